use crate::ParamError;
/// x
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CuckooParams { num_buckets: u64, fingerprint_bits: u32, design: Option<(u64,f64)> }
impl CuckooParams {
    /// x
    pub fn from_buckets_and_bits(num_buckets: u64, fingerprint_bits: u32) -> Result<Self, ParamError> {
        Ok(Self{num_buckets, fingerprint_bits, design: None})
    }
    /// x
    pub fn num_buckets(&self)->u64{self.num_buckets}
    /// x
    pub fn fingerprint_bits(&self)->u32{self.fingerprint_bits}
    /// x
    pub fn size_in_bytes(&self)->u64{ (self.num_buckets*4*self.fingerprint_bits as u64).div_ceil(64)*8 }
}
