use pds_core::bytes::Envelope;
use pds_core::internal::view_methods;
use pds_core::{DecodeError, DefaultHashBuilder};
use pds_params::HllParams;

use crate::UltraLogLog;
use crate::bytes::{check_ultra, ultra_of};
use crate::ultra::reading_methods;

/// An [`UltraLogLog`] in borrowed bytes, such as a memory-mapped file: estimates without a copy.
///
/// Opening verifies the header and the length, in constant time; the payload is looked at only by estimates, and
/// checked only by [`verify`](Self::verify). Bytes at any address will do.
///
/// # Guarantees
/// - The answers are those of the sketch that wrote the bytes.
/// - From a payload that was damaged since and not verified: answers may be wrong. Never a panic, never a read
///   outside the bytes.
/// - A mapped file must not be truncated while it is mapped: the system then ends the process on access.
///
/// # Examples
/// ```
/// use hll::{UltraLogLog, UltraLogLogView};
///
/// let mut seen = UltraLogLog::new(12)?;
/// seen.extend(0..50_000u32);
/// let bytes = seen.to_bytes();
///
/// let view = UltraLogLogView::open(&bytes)?;
/// view.verify()?;
/// assert_eq!(view.estimate(), seen.estimate());
/// assert_eq!(view.to_sketch()?, seen);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct UltraLogLogView<'a, S = DefaultHashBuilder> {
    envelope: Envelope<&'a [u8]>,
    params: HllParams,
    hasher: S,
}

view_methods!(UltraLogLogView of UltraLogLog, to_sketch, check);

impl<'a, S> UltraLogLogView<'a, S> {
    fn of_envelope(envelope: Envelope<&'a [u8]>, hasher: S) -> Result<Self, DecodeError> {
        let params = ultra_of(&envelope.header().shape)?;
        Ok(Self { envelope, params, hasher })
    }

    fn check(&self) -> Result<(), DecodeError> {
        check_ultra(self.registers(), self.precision(), self.envelope.header().payload_offset())
    }

    /// Returns the registers, as [`UltraLogLog::registers`] does: they are the payload.
    #[must_use]
    pub fn registers(&self) -> &[u8] {
        self.envelope.payload()
    }
}

reading_methods!(['a, S] UltraLogLogView<'a, S>);
