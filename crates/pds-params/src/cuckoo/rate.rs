/// x
pub fn rate(_b: u64, _i: u64, _f: u32) -> f64 { 0.0 }
