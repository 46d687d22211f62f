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
        self.taken.set(end.unwrap_or(self.taken.get()));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;

    use super::*;

    /// Small enough to be full soon.
    const SMALL: usize = 1 << 10;

    #[derive(Debug, Clone)]
    enum Step {
        Take { size: usize, align: usize },
        GiveBack(prop::sample::Index),
        Resize(prop::sample::Index, usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let size = prop_oneof![1_usize..64, 1_usize..2 * SMALL];
        let step = prop_oneof![
            3 => (size.clone(), prop_oneof![9 => 0_u32..5, 1 => 5_u32..8]).prop_map(|(size, power)| Step::Take { size, align: 1 << power }),
            2 => any::<prop::sample::Index>().prop_map(Step::GiveBack),
            2 => (any::<prop::sample::Index>(), size).prop_map(|(index, size)| Step::Resize(index, size)),
        ];
        prop::collection::vec(step, 1..60)
    }

    /// Bytes that are in use, every one of them `mark`.
    struct Taken {
        pointer: *mut u8,
        layout: Layout,
        mark: u8,
    }

    impl Taken {
        fn fill(&self) {
            // SAFETY: the heap says that it has so many bytes.
            unsafe { self.pointer.write_bytes(self.mark, self.layout.size()) };
        }

        fn holds(&self, size: usize) -> bool {
            // SAFETY: all of it was filled.
            unsafe { std::slice::from_raw_parts(self.pointer, size) }.iter().all(|byte| *byte == self.mark)
        }
    }

    /// Takes the steps, and looks after each whether every byte in use is as it was left. Of all that
    /// the room could have given, whether it came from there.
    fn run(steps: Vec<Step>) -> Vec<bool> {
        let heap = Heap::<SMALL>::new();
        let mut all: Vec<Taken> = Vec::new();
        let mut from_room = Vec::new();
        for (step, mark) in steps.into_iter().zip((1..=u8::MAX).cycle()) {
            match step {
                Step::Take { size, align } => {
                    let layout = Layout::from_size_align(size, align).unwrap();
                    // SAFETY: the size is above zero.
                    let taken = Taken { pointer: unsafe { heap.alloc(layout) }, layout, mark };
                    assert!(taken.pointer.addr().is_multiple_of(align));
                    let offset = heap.offset(taken.pointer);
                    assert!(offset.is_none_or(|offset| size <= SMALL.abs_diff(offset)), "it ends in the room");
                    // Alignments above the room's own never come from it.
                    if align <= align_of::<Heap<SMALL>>() {
                        from_room.push(offset.is_some());
                    }
                    taken.fill();
                    all.push(taken);
                }
                Step::GiveBack(index) if !all.is_empty() => {
                    let given = all.swap_remove(index.index(all.len()));
                    // SAFETY: it is in use, and of this layout.
                    unsafe { heap.dealloc(given.pointer, given.layout) };
                }
                Step::Resize(index, size) if !all.is_empty() => {
                    let place = index.index(all.len());
                    let taken = all.get_mut(place).unwrap();
                    // SAFETY: it is in use, of this layout, and the size is above zero.
                    taken.pointer = unsafe { heap.realloc(taken.pointer, taken.layout, size) };
                    assert!(taken.pointer.addr().is_multiple_of(taken.layout.align()));
                    assert!(taken.holds(size.min(taken.layout.size())));
                    taken.layout = Layout::from_size_align(size, taken.layout.align()).unwrap();
                    taken.fill();
                }
                Step::GiveBack(_) | Step::Resize(..) => {}
            }
            assert!(all.iter().all(|taken| taken.holds(taken.layout.size())));
        }
        for taken in all {
            // SAFETY: it is in use, and of this layout.
            unsafe { heap.dealloc(taken.pointer, taken.layout) };
        }
        from_room
    }

    proptest! {
        #[test]
        fn what_is_in_use_is_nobody_elses(steps in steps()) {
            run(steps);
        }
    }

    #[test]
    fn the_steps_reach_the_room_and_beyond() {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let mut many = || run(steps().new_tree(&mut runner).unwrap().current());
        let (within, beyond): (Vec<bool>, Vec<bool>) = (0..50).flat_map(|_| many()).partition(|from_room| *from_room);
        assert!(within.len() > 100 && beyond.len() > 100, "{} and {}", within.len(), beyond.len());
    }

    #[test]
    fn a_buffer_grows_where_it_is_until_the_room_ends() {
        let heap = Heap::<SMALL>::new();
        let layout = |size| Layout::from_size_align(size, 1).unwrap();
        // SAFETY: sizes above zero, and each layout is the one that was asked for last.
        unsafe {
            let first = heap.alloc(layout(100));
            assert_eq!(heap.realloc(first, layout(100), SMALL), first);
            let moved = heap.realloc(first, layout(SMALL), SMALL + 1);
            assert_eq!(heap.offset(moved), None);
            heap.dealloc(moved, layout(SMALL + 1));
        }
    }

    #[test]
    fn what_shrinks_stays_where_it_is() {
        let heap = Heap::<SMALL>::new();
        let (layout, less) = (Layout::from_size_align(16, 8).unwrap(), Layout::from_size_align(8, 8).unwrap());
        // SAFETY: sizes above zero, and each layout is the one that was asked for last.
        unsafe {
            let (first, second) = (heap.alloc(layout), heap.alloc(layout));
            assert_eq!(heap.realloc(first, layout, less.size()), first);
            assert_eq!(heap.realloc(second, layout, less.size()), second);
            assert_eq!(heap.offset(heap.alloc(less)), Some(24));
            heap.dealloc(first, less);
            assert_eq!(heap.offset(heap.alloc(less)), Some(32));
        }
    }

    #[test]
    fn the_last_is_taken_again_and_others_are_not() {
        let heap = Heap::<SMALL>::new();
        let layout = Layout::from_size_align(8, 8).unwrap();
        // SAFETY: the size is above zero, and what is given back was taken.
        unsafe {
            let (first, second) = (heap.alloc(layout), heap.alloc(layout));
            heap.dealloc(first, layout);
            assert_eq!(heap.offset(heap.alloc(layout)), Some(16));
            heap.dealloc(first.add(16), layout);
            heap.dealloc(second, layout);
            assert_eq!(heap.alloc(layout), second);
        }
    }
}
