//! Read-only sketches in compact bytes.

use core::fmt;

use pds_core::error::DecodeError;

use crate::codec::{Hashes, Head};
use crate::set::sealed::Sealed;
use crate::{ThetaHasher, ThetaSet};

/// A read-only sketch that answers straight from its compact bytes, plain or compressed, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`. The bytes may start
/// at any address.
///
/// # Examples
/// ```
/// use theta::{ThetaSet, ThetaSketch, ThetaSketchView};
///
/// let (mut left, mut right) = (ThetaSketch::new(1_024)?, ThetaSketch::new(1_024)?);
/// left.extend(0..500_i64);
/// right.extend(300..700_i64);
///
/// let view = ThetaSketchView::open(left.to_compact().to_compressed_bytes())?;
/// view.verify()?;
/// assert_eq!(view.estimate(), 500.0);
/// assert_eq!(view.intersection(&right)?.estimate(), 200.0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ThetaSketchView<B> {
    bytes: B,
    head: Head,
    hasher: ThetaHasher,
}

impl<B: AsRef<[u8]>> ThetaSketchView<B> {
    /// Opens ordered compact bytes of the default seed.
    ///
    /// The preamble and the length are checked. Call [`verify`](Self::verify) to check the hashes too. If they are damaged and were
    /// not verified, answers may be wrong. No question panics, and none reads outside the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset. Hashes that are not ordered are refused: use
    /// [`CompactThetaSketch::from_bytes`](crate::CompactThetaSketch::from_bytes) for them.
    ///
    /// # Complexity
    /// Constant.
    pub fn open(bytes: B) -> Result<Self, DecodeError> {
        Self::open_with_hasher(bytes, ThetaHasher::default())
    }

    /// Opens ordered compact bytes of another seed.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with_hasher(bytes: B, hasher: ThetaHasher) -> Result<Self, DecodeError> {
        let head = Head::read(bytes.as_ref(), hasher)?;
        head.check_ordered(bytes.as_ref())?;
        Ok(Self { bytes, head, hasher })
    }

    /// Verifies that the hashes ascend and are below theta.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(bytes).
    pub fn verify(&self) -> Result<(), DecodeError> {
        self.head.check_hashes(self.bytes.as_ref())
    }

    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        &self.bytes
    }
}

impl<B: AsRef<[u8]>> Sealed for ThetaSketchView<B> {}

impl<B: AsRef<[u8]>> ThetaSet for ThetaSketchView<B> {
    fn hasher(&self) -> ThetaHasher {
        self.hasher
    }

    fn theta64(&self) -> u64 {
        self.head.theta
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty
    }

    fn num_retained(&self) -> usize {
        self.head.count
    }

    /// Leaves out hashes of damaged bytes that do not ascend, or are not below theta.
    fn ascending(&self) -> impl Iterator<Item = u64> {
        let (mut previous, theta) = (0, self.head.theta);
        Hashes::new(&self.head, self.bytes.as_ref()).filter(move |&hash| {
            let is_sound = hash > previous && hash < theta;
            previous = if is_sound { hash } else { previous };
            is_sound
        })
    }
}

impl<B: AsRef<[u8]>> fmt::Debug for ThetaSketchView<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThetaSketchView")
            .field("theta", &self.theta())
            .field("num_retained", &self.num_retained())
            .field("is_empty", &self.is_empty())
            .finish_non_exhaustive()
    }
}
