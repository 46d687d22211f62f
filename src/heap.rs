//! The heap of the module: room that every instance has from the start, and the heap of the standard library beyond it.
//!
//! A policy's instance lives for one request, and most requests need little memory. Taking it from one end to the other is
//! all the bookkeeping that is worth doing; and memory that a module asks for while it runs costs its host a change of
//! protection, on every processor, in every instance. What an instance has from the start costs nothing until it is written.
//!
//! An instance that lives longer, as in JavaScript, uses the room once and has the heap of the standard library from then on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;

#[cfg(test)]
mod tests;

/// Takes from its own `ROOM` bytes while there are enough, and from `System` then.
///
/// What is given back is taken again only where it was the last that was taken, which is how a buffer grows.
#[repr(C, align(16))]
pub(crate) struct Heap<const ROOM: usize> {
    room: UnsafeCell<[MaybeUninit<u8>; ROOM]>,
    taken: Cell<usize>,
}

// SAFETY: without atomics a module has one thread.
#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics")))]
unsafe impl<const ROOM: usize> Sync for Heap<ROOM> {}

#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics")))]
#[global_allocator]
// Enough for a typical update.
static HEAP: Heap<{ 256 << 10 }> = Heap::new();

impl<const ROOM: usize> Heap<ROOM> {
    /// With all of its room.
    pub(crate) const fn new() -> Self {
        Heap { room: UnsafeCell::new([MaybeUninit::uninit(); ROOM]), taken: Cell::new(0) }
    }

    fn begin(&self) -> *mut u8 {
        self.room.get().cast()
    }

    /// Where in the room something begins; none of what `System` gave.
    fn offset(&self, pointer: *mut u8) -> Option<usize> {
        let offset = pointer.addr().wrapping_sub(self.begin().addr());
        (offset < ROOM).then_some(offset)
    }

    /// Marks the room from `offset` on as taken by `size` bytes, if there are so many.
    fn take(&self, offset: usize, size: usize) -> bool {
        let end = offset.checked_add(size).filter(|end| *end <= ROOM);
        if let Some(end) = end {
            self.taken.set(end);
        }
        end.is_some()
    }

    /// Whether nothing was taken after this.
    fn is_last(&self, offset: usize, layout: Layout) -> bool {
        offset.checked_add(layout.size()) == Some(self.taken.get())
    }
}

// SAFETY: what lies below `taken` is never given out again before it is given back, and nothing outside of the room is
// given out but what `System` gave, which gets its own back.
unsafe impl<const ROOM: usize> GlobalAlloc for Heap<ROOM> {
    // Inlined, it would be copied to every place that takes memory.
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let below = layout.align().wrapping_sub(1);
        let offset = self.taken.get().wrapping_add(below) & !below;
        if layout.align() <= align_of::<Self>() && self.take(offset, layout.size()) {
            self.begin().wrapping_add(offset)
        } else {
            // SAFETY: the caller promised the same to this.
            unsafe { System.alloc(layout) }
        }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        match self.offset(pointer) {
            Some(offset) if self.is_last(offset, layout) => self.taken.set(offset),
            Some(_) => {}
            // SAFETY: it is not of the room, so `System` gave it.
            None => unsafe { System.dealloc(pointer, layout) },
        }
    }

    #[inline(never)]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(offset) = self.offset(pointer) else {
            // SAFETY: it is not of the room, so `System` gave it.
            return unsafe { System.realloc(pointer, layout, size) };
        };
        // What is not the last keeps what it gives up: moving it to have less would take more.
        if self.is_last(offset, layout) && self.take(offset, size) || size <= layout.size() {
            return pointer;
        }
        // SAFETY: the caller promised that `size` is above zero and, rounded up to the alignment, no overflow.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both have so many bytes, the new one more, and the old ones are given back only then.
            unsafe {
                std::ptr::copy_nonoverlapping(pointer, new, layout.size());
                self.dealloc(pointer, layout);
            }
        }
        new
    }
}
