use core::{error, fmt};

/// The reason why bytes are not a HyperLogLog value of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisError {
    /// The value does not have the length of its encoding: 12,304 bytes if dense, at least 16 if sparse.
    Length {
        /// The length found, in bytes.
        found: usize,
        /// The length needed.
        expected: usize,
    },
    /// The value does not start with `HYLL`.
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// An encoding that is neither dense (0) nor sparse (1).
    Encoding {
        /// The byte found, at offset 4.
        found: u8,
    },
    /// The three bytes after the encoding are not zero.
    Reserved {
        /// The bytes found.
        found: [u8; 3],
    },
    /// A register above 51. No hash gives such a rank.
    Rank {
        /// The number of the register.
        register: usize,
        /// Its value.
        found: u8,
    },
    /// A run of the sparse encoding extends beyond the last register, or lacks its second byte.
    Run {
        /// The offset of the run, in bytes.
        offset: usize,
    },
    /// The runs of the sparse encoding end before the last register.
    Incomplete {
        /// Number of registers that they cover, out of 16,384.
        registers: usize,
    },
}

impl fmt::Display for RedisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { found, expected } => {
                write!(f, "the value has {found} bytes, but its encoding needs {expected}")
            }
            Self::Magic { found } => {
                write!(f, "the value starts with {found:02x?}, but must start with HYLL")
            }
            Self::Encoding { found } => {
                write!(f, "encoding at offset 4 is {found}, but must be 0 or 1")
            }
            Self::Reserved { found } => {
                write!(f, "bytes at offset 5 are {found:02x?}, but must be zero")
            }
            Self::Rank { register, found } => {
                write!(f, "register {register} is {found}, but can be 51 at most")
            }
            Self::Run { offset } => {
                write!(f, "the run at offset {offset} goes beyond the end")
            }
            Self::Incomplete { registers } => {
                write!(f, "the runs cover {registers} registers, but must cover 16384")
            }
        }
    }
}

impl error::Error for RedisError {}
