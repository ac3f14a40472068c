//! The settings of the module: `CONFIG SET bf.<name>`, and the arguments of `loadmodule`.

use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};
use std::{ptr, slice, str};

use super::api::{self, Context, Text, api};

/// A whole number that can be set.
#[derive(Debug)]
pub(super) struct Number {
    name: &'static CStr,
    /// The argument of `loadmodule`, as RedisBloom calls it.
    argument: &'static str,
    value: AtomicI64,
    min: i64,
    max: i64,
    flags: u32,
}

/// The greatest number of bytes of one value, 16 GiB unless it is set.
static MAX_VALUE_BYTES: Number = Number {
    name: c"max-value-size",
    argument: "MAX_VALUE_SIZE",
    value: AtomicI64::new(16 << 30),
    // Blocks below 64 KiB are not compared with the limit.
    min: 1 << 20,
    max: 1 << 48,
    flags: api::CONFIG_MEMORY,
};

/// The capacity of a Bloom filter that an add creates.
static INITIAL_SIZE: Number = Number {
    name: c"initial-size",
    argument: "INITIAL_SIZE",
    value: AtomicI64::new(100),
    min: 1,
    max: 1 << 40,
    flags: api::CONFIG_DEFAULT,
};

/// The growth of a Bloom filter that an add creates.
static EXPANSION: Number = Number {
    name: c"expansion-factor",
    argument: "EXPANSION_FACTOR",
    value: AtomicI64::new(2),
    min: 1,
    max: 32_768,
    flags: api::CONFIG_DEFAULT,
};

/// The capacity of a cuckoo filter that an add creates.
static CUCKOO_SIZE: Number = Number {
    name: c"cf-initial-size",
    argument: "CF_INITIAL_SIZE",
    value: AtomicI64::new(1024),
    // Two buckets, the least that `CF.RESERVE` takes.
    min: 4,
    max: 1 << 40,
    flags: api::CONFIG_DEFAULT,
};

static NUMBERS: [&Number; 4] = [&MAX_VALUE_BYTES, &INITIAL_SIZE, &EXPANSION, &CUCKOO_SIZE];

/// The bits of the default rate of a Bloom filter, 0.01 unless it is set.
static RATE: AtomicU64 = AtomicU64::new(0x3f84_7ae1_47ae_147b);
const RATE_NAME: &CStr = c"error-rate";
const RATE_ARGUMENT: &str = "ERROR_RATE";

/// The text that the server got last for the rate, which it borrows.
static RATE_TEXT: AtomicPtr<Text> = AtomicPtr::new(ptr::null_mut());

impl Number {
    fn get(&self) -> u64 {
        self.value.load(Ordering::Relaxed).cast_unsigned()
    }
}

/// Returns the greatest number of bytes of one value.
pub(super) fn max_value_bytes() -> u64 {
    MAX_VALUE_BYTES.get()
}

/// Returns the capacity of a Bloom filter that an add creates.
pub(crate) fn initial_size() -> u64 {
    INITIAL_SIZE.get()
}

/// Returns the growth of a Bloom filter that an add creates.
pub(crate) fn expansion() -> u64 {
    EXPANSION.get()
}

/// Returns the capacity of a cuckoo filter that an add creates.
pub(crate) fn cuckoo_size() -> u64 {
    CUCKOO_SIZE.get()
}

/// Returns the rate of a Bloom filter that an add creates.
pub(crate) fn error_rate() -> f64 {
    f64::from_bits(RATE.load(Ordering::Relaxed))
}

/// Registers the settings, after the arguments of `loadmodule` were read. Returns what is wrong.
pub(super) fn register(context: *mut Context, arguments: &[&[u8]]) -> Result<(), String> {
    read_arguments(arguments)?;
    for number in NUMBERS {
        // SAFETY: context of the load; the data is a static number, and both functions take it.
        let status = unsafe {
            (api().register_number)(
                context,
                number.name.as_ptr(),
                number.value.load(Ordering::Relaxed),
                number.flags,
                number.min,
                number.max,
                get_number,
                set_number,
                None,
                ptr::from_ref(number).cast_mut().cast(),
            )
        };
        if status != api::OK {
            return Err(format!("the server refused the setting {:?}", number.name));
        }
    }
    let rate = std::ffi::CString::new(error_rate().to_string()).unwrap_or_default();
    // SAFETY: context of the load; the server copies the texts.
    let status = unsafe {
        (api().register_text)(
            context,
            RATE_NAME.as_ptr(),
            rate.as_ptr(),
            api::CONFIG_DEFAULT,
            get_rate,
            set_rate,
            None,
            ptr::null_mut(),
        )
    };
    // SAFETY: context of the load.
    if status != api::OK || unsafe { (api().load_configs)(context) } != api::OK {
        return Err("the server refused the settings".into());
    }
    Ok(())
}

/// Reads pairs of a name and a value.
fn read_arguments(arguments: &[&[u8]]) -> Result<(), String> {
    for pair in arguments.chunks(2) {
        let shown = String::from_utf8_lossy(pair[0]);
        let text = pair.get(1).and_then(|value| str::from_utf8(value).ok());
        let refused = |allowed: String| Err(format!("argument {shown}: expected {allowed}"));
        if shown.eq_ignore_ascii_case(RATE_ARGUMENT) {
            match text.and_then(|text| text.parse().ok()).filter(is_rate) {
                Some(rate) => RATE.store(rate.to_bits(), Ordering::Relaxed),
                None => return refused("a number above 0 and below 1".into()),
            }
            continue;
        }
        let Some(number) =
            NUMBERS.iter().find(|number| shown.eq_ignore_ascii_case(number.argument))
        else {
            return Err(format!("unknown argument {shown}"));
        };
        match text.and_then(|text| text.parse().ok()) {
            Some(value) if (number.min..=number.max).contains(&value) => {
                number.value.store(value, Ordering::Relaxed);
            }
            _ => return refused(format!("a whole number from {} to {}", number.min, number.max)),
        }
    }
    Ok(())
}

fn is_rate(rate: &f64) -> bool {
    *rate > 0.0 && *rate < 1.0
}

unsafe extern "C" fn get_number(_: *const c_char, data: *mut c_void) -> c_longlong {
    debug_assert!(!data.is_null());
    // SAFETY: `data` is the static number that was registered.
    unsafe { &*data.cast::<Number>() }.value.load(Ordering::Relaxed)
}

unsafe extern "C" fn set_number(
    _: *const c_char,
    value: c_longlong,
    data: *mut c_void,
    _: *mut *mut Text,
) -> c_int {
    debug_assert!(!data.is_null());
    // SAFETY: as above. The server has checked the range.
    unsafe { &*data.cast::<Number>() }.value.store(value, Ordering::Relaxed);
    api::OK
}

unsafe extern "C" fn get_rate(_: *const c_char, _: *mut c_void) -> *mut Text {
    let text = error_rate().to_string();
    // SAFETY: without a context the text belongs to the module.
    let new = unsafe { (api().create_text)(ptr::null_mut(), text.as_ptr().cast(), text.len()) };
    let old = RATE_TEXT.swap(new, Ordering::Relaxed);
    if !old.is_null() {
        // SAFETY: it was created above, and the server uses a text until it asks for the next one.
        unsafe { (api().free_text)(ptr::null_mut(), old) };
    }
    new
}

unsafe extern "C" fn set_rate(
    _: *const c_char,
    value: *mut Text,
    _: *mut c_void,
    error: *mut *mut Text,
) -> c_int {
    let mut len = 0;
    // SAFETY: the server passes a string, which lives until this function returns.
    let first = unsafe { (api().text_bytes)(value, &raw mut len) };
    debug_assert!(!first.is_null());
    // SAFETY: as above.
    let bytes: &[u8] = unsafe { slice::from_raw_parts(first.cast(), len) };
    let rate = str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).filter(is_rate);
    if let Some(rate) = rate {
        RATE.store(rate.to_bits(), Ordering::Relaxed);
        return api::OK;
    }
    let text = "expected a number above 0 and below 1";
    // SAFETY: the server takes the text over, and passes a place for it.
    unsafe {
        *error = (api().create_text)(ptr::null_mut(), text.as_ptr().cast(), text.len());
    }
    api::ERR
}
