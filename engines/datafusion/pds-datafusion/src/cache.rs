//! Sketches that earlier batches read.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of sketches that are kept. A call with more of them in turn reads each anew.
const CAPACITY: usize = 8;

/// The sketches that a call read last, the latest first.
///
/// To read a sketch is to verify all of its bytes. The same bytes reach a call with every batch of rows, if they are a literal,
/// the result of a subquery, or a column that was joined to the rows. To compare them is the cheaper way to know that they are
/// right.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<VecDeque<Known>>);

#[derive(Clone, Debug)]
struct Known {
    bytes: Arc<[u8]>,
    sketch: Arc<dyn Any + Send + Sync>,
}

impl Cache {
    /// Returns the sketch of these bytes, which `read` reads if it is not known.
    pub(crate) fn get<T: Send + Sync + 'static, E>(
        &self,
        bytes: &[u8],
        read: impl FnOnce(Arc<[u8]>) -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        // Other threads go on while this one compares.
        let known: Vec<_> = self.lock().iter().cloned().collect();
        let same = known.into_iter().find(|known| *known.bytes == *bytes);
        if let Some(sketch) = same.and_then(|known| known.sketch.downcast().ok()) {
            return Ok(sketch);
        }
        let bytes: Arc<[u8]> = bytes.into();
        let sketch = Arc::new(read(Arc::clone(&bytes))?);
        let mut known = self.lock();
        known.truncate(CAPACITY - 1);
        known.push_front(Known { bytes, sketch: Arc::<T>::clone(&sketch) });
        Ok(sketch)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn bytes_are_read_once_while_they_are_among_the_last() {
        let cache = Cache::default();
        let mut read = Vec::new();
        let mut get = |byte: u8| {
            let sketch = cache.get(&[byte], |bytes| {
                read.push(byte);
                Ok::<_, Infallible>(bytes[0])
            });
            assert_eq!(*sketch.unwrap(), byte);
        };
        let all = 0..u8::try_from(CAPACITY).unwrap();
        all.clone().chain(all.clone()).for_each(&mut get);
        // One more takes the place of the first.
        [100, 1, 100, 0].into_iter().for_each(&mut get);
        let expected: Vec<u8> = all.chain([100, 0]).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn what_cannot_be_read_is_not_kept() {
        let cache = Cache::default();
        for _ in 0..2 {
            assert_eq!(cache.get(&[1], |_| Err::<u8, _>("wrong")), Err("wrong"));
        }
        assert_eq!(cache.get(&[1], |_| Ok::<_, &str>(7)).as_deref(), Ok(&7));
    }
}
