//! The heap, natively and small enough to be full soon.

use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::*;

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
