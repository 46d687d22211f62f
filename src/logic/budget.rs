//! How much work an answer may cost.

/// The steps that are left. A step is a fixed small piece of work, about as much as visiting one small value, and not a
/// time: the same question gets the same answer on every machine. Work is paid for before it is done.
#[derive(Debug, Clone)]
pub struct Budget {
    left: u64,
}

/// The steps are spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted;

impl Budget {
    pub fn of(steps: u64) -> Self {
        Budget { left: steps }
    }

    /// # Errors
    /// When fewer than `steps` are left. Nothing is left then, so that no cheaper question is answered after a dear one
    /// that was not.
    pub fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Exhausted)
            }
        }
    }

    /// Steps that can still be spent.
    pub fn left(&self) -> u64 {
        self.left
    }
}
