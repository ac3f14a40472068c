//! Actions of a user on the page, and their results.

use crate::chromium::Chromium;
use pds::BloomFilter;
use pds::compare::{self, DistinctNeeds};
use serde_json::{Value, json};
use std::{env, fs};

type Test = fn(&mut Page);

/// A telephone and a desk.
pub(crate) const WIDTHS: [u32; 2] = [390, 1280];

/// Every test runs at both widths.
pub(crate) const TESTS: &[(&str, Test)] = &[
    ("sizes_are_the_native_ones", sizes_are_the_native_ones),
    (
        "similar_sets_and_other_needs_have_native_sizes",
        similar_sets_and_other_needs_have_native_sizes,
    ),
    ("wrong_numbers_are_refused_with_a_reason", wrong_numbers_are_refused_with_a_reason),
    ("keys_are_added_checked_and_removed", keys_are_added_checked_and_removed),
    ("the_keyboard_is_enough", the_keyboard_is_enough),
    ("a_dropped_file_fills_the_filter", a_dropped_file_fills_the_filter),
    ("pasted_lines_are_added", pasted_lines_are_added),
    ("a_module_that_fails_is_started_anew", a_module_that_fails_is_started_anew),
    ("nothing_is_wider_than_the_window", nothing_is_wider_than_the_window),
    ("pictures", pictures),
];

/// A tab of the browser.
pub(crate) struct Page<'a> {
    browser: &'a mut Chromium,
    session: String,
    width: u32,
}

impl<'a> Page<'a> {
    pub(crate) fn open(browser: &'a mut Chromium, address: &str, width: u32) -> Self {
        browser.events.clear();
        let target = browser.call("", "Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("", "Target.attachToTarget", attach)["sessionId"]
            .as_str()
            .expect("an id")
            .to_owned();
        let mut page = Self { browser, session, width };
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            page.call(domain, json!({}));
        }
        page.resize(900);
        page.call("Page.navigate", json!({ "url": address }));
        page.browser.wait_for("Page.loadEventFired");
        page.until("document.getElementById('demo').dataset.cells !== undefined && document.querySelector('#structures tbody tr')");
        page
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.browser.call(&self.session, method, parameters)
    }

    fn resize(&mut self, height: u32) {
        let size = json!({ "width": self.width, "height": height, "deviceScaleFactor": 1, "mobile": self.width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Evaluates a script.
    fn get(&mut self, script: &str) -> Value {
        let parameters =
            json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{script}: {}", result["exceptionDetails"]);
        result["result"]["value"].clone()
    }

    fn text(&mut self, selector: &str) -> String {
        self.get(&format!("document.querySelector({selector:?}).textContent"))
            .as_str()
            .expect("text")
            .to_owned()
    }

    /// Waits until a script is true.
    fn until(&mut self, script: &str) {
        let wait = format!(
            "new Promise((resolve) => {{ const wait = (left) => {{ let is = false; try {{ is = {script}; }} catch {{}} \
             if (is || left === 0) resolve(!!is); else setTimeout(wait, 20, left - 1); }}; wait(1500); }})"
        );
        assert_eq!(self.get(&wait), true, "{script}");
    }

    fn fill(&mut self, id: &str, text: &str) {
        self.get(&format!(
            "document.getElementById({id:?}).focus(), document.getElementById({id:?}).select()"
        ));
        self.call("Input.insertText", json!({ "text": text }));
    }

    fn click(&mut self, selector: &str) {
        self.get(&format!("document.querySelector({selector:?}).click()"));
    }

    fn press(&mut self, key: &str, code: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let parameters = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    /// Presses the tabulator until an element has the focus.
    fn tab_to(&mut self, selector: &str) {
        for _ in 0..80 {
            if self.get(&format!("document.activeElement.matches({selector:?})")) == true {
                return;
            }
            self.press("Tab", 9, "");
        }
        panic!("the keyboard does not reach {selector}");
    }

    /// No error is in the console, and no exception was thrown.
    pub(crate) fn nothing_went_wrong(&mut self) {
        let wrong = |event: &Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] == "error",
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            _ => false,
        };
        let errors: Vec<_> = self.browser.events.iter().filter(|event| wrong(event)).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }

    fn picture(&mut self, name: &str, height: u32) {
        let Ok(folder) = env::var("SCREENSHOTS") else { return };
        self.resize(height);
        // The cells glow for a moment.
        self.get("new Promise((resolve) => setTimeout(resolve, 1200))");
        let picture =
            self.call("Page.captureScreenshot", json!({ "format": "webp", "quality": 82 }));
        let bytes = from_base64(picture["data"].as_str().expect("a picture"));
        fs::write(format!("{folder}/{name}-{}.webp", self.width), bytes)
            .expect("a folder for pictures");
        self.resize(900);
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |byte: u8| DIGITS.iter().position(|&one| one == byte);
    let (mut bits, mut count, mut bytes) = (0_usize, 0, Vec::new());
    for value in text.bytes().filter_map(digit) {
        (bits, count) = (bits << 6 | value, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}

/// The rows of the table are those of the comparison, to the byte and to the last digit of the rate.
fn sizes_are_the_native_ones(page: &mut Page) {
    for (items, rate) in [(1_000_000, "1%"), (1_000, "1e-6"), (300_000_000, "0.02")] {
        page.fill("items", &items.to_string());
        page.fill("rate", rate);
        // As texts, which keep every digit.
        let rows = page.get(
            "[...document.querySelectorAll('#structures tbody tr')].map((row) => \
             `${row.dataset.type} ${row.dataset.bytes} ${row.dataset.rate}`)",
        );
        let number = match rate.strip_suffix('%') {
            Some(hundredths) => format!("{hundredths}e-2").parse(),
            None => rate.parse(),
        };
        let native = compare::compare(items, number.expect("a number")).expect("a promise");
        let native: Vec<_> = native.candidates().collect();
        let rows = rows.as_array().expect("rows").clone();
        assert_eq!(rows.len(), native.len());
        for (row, native) in rows.iter().zip(&native) {
            let words: Vec<&str> = row.as_str().expect("a text").rsplitn(3, ' ').collect();
            assert_eq!(words[2], native.structure().type_name, "{items} at {rate}");
            assert_eq!(words[1].parse(), Ok(native.size_in_bytes()), "{items} at {rate}, {row}");
            assert_eq!(words[0].parse(), Ok(native.rate()), "{items} at {rate}, {row}");
        }
    }
    assert!(page.text("#line-rust").contains("pds::"), "a line to copy");

    // The other two questions of the form.
    page.get(
        "document.getElementById('find').value = 'items'; \
         document.getElementById('ask').dispatchEvent(new Event('input'))",
    );
    page.fill("bytes", "64 KiB");
    let first = page.get("Number(document.querySelector('#structures tbody tr').dataset.items)");
    let native = compare::compare_most_items(64 << 10, 0.02).expect("possible");
    let most = native.candidates().next().expect("a filter").items();
    assert_eq!(first.as_f64(), Some(most as f64));
    page.get(
        "document.getElementById('find').value = 'rate'; \
         document.getElementById('ask').dispatchEvent(new Event('input'))",
    );
    page.fill("items", "50,000");
    let first = page.get("document.querySelector('#structures tbody tr').dataset.rate");
    let native = compare::compare_in_memory(64 << 10, 50_000).expect("possible");
    let least = native.candidates().next().expect("a filter").rate();
    assert_eq!(first.as_str().expect("a text").parse(), Ok(least));
    page.fill("items", "300M");

    page.click("input[value=distinct]");
    page.fill("error", "2%");
    let bytes = page.get("Number(document.querySelector('#structures tbody tr').dataset.bytes)");
    let needs = DistinctNeeds::new(300_000_000, 0.02);
    let expected = compare::recommend_distinct(&needs).expect("possible").expect("a choice");
    assert_eq!(bytes.as_f64(), Some(expected.size_in_bytes() as f64));
    assert_eq!(page.text("#line-rust"), format!("let mut sketch = {};", expected.expression()));
}

fn similar_sets_and_other_needs_have_native_sizes(page: &mut Page) {
    page.fill("items", "1M");
    page.fill("rate", "1%");
    for native in compare::aging_and_growing(1_000_000, 0.01).expect("possible") {
        let selector = format!("#others li[data-type={}]", native.structure().type_name);
        let bytes =
            page.get(&format!("Number(document.querySelector({selector:?}).dataset.bytes)"));
        assert_eq!(bytes.as_f64(), Some(native.size_in_bytes() as f64), "{selector}");
    }
    page.click("input[value=similar]");
    page.fill("similarity", "5%");
    let [sketch, index] = compare::similar_sets(0.05, 1_000_000, 0.8, 0.95).expect("possible");
    for native in [&sketch, &index] {
        let selector = format!("#structures tr[data-type={}]", native.structure().type_name);
        let bytes =
            page.get(&format!("Number(document.querySelector({selector:?}).dataset.bytes)"));
        assert_eq!(bytes.as_f64(), Some(native.size_in_bytes() as f64), "{selector}");
    }
    assert_eq!(page.text("#line-rust"), format!("let mut sketch = {};", sketch.expression()));
    assert!(page.text("#line-shell").contains("--values 128 --threshold 0.8 --recall 0.95"));
}

fn wrong_numbers_are_refused_with_a_reason(page: &mut Page) {
    let cases = [
        ("items", "many", "“many” is not a number of keys"),
        ("items", "0", "The number of keys is 0, but must be"),
        ("rate", "100%", "The rate is 1.0, but must be above 0 and below 1."),
        ("rate", "10,5%", "“10,5%” is not a share"),
    ];
    for (field, text, reason) in cases {
        page.fill("items", "1M");
        page.fill("rate", "1%");
        page.fill(field, text);
        assert_eq!(page.get("document.getElementById('refusal').hidden"), false, "{field} {text}");
        let said = page.text("#refusal");
        assert!(said.contains(reason), "{text}: {said}");
    }
    page.fill("rate", "1%");
    assert_eq!(page.get("document.getElementById('refusal').hidden"), true);
}

fn keys_are_added_checked_and_removed(page: &mut Page) {
    page.click("[value='cuckoo filter']");
    page.fill("key", "pear");
    page.click("#check");
    assert_eq!(page.text("#verdict"), "“pear”: certainly absent. That is right.");
    page.click("#add");
    assert_eq!(page.get("document.getElementById('demo').dataset.filled"), "1");
    page.click("#check");
    assert_eq!(page.text("#verdict"), "“pear”: probably present. That is right.");
    page.click("#remove");
    assert_eq!(page.get("document.getElementById('demo').dataset.filled"), "0");
    page.click("#remove");
    assert!(page.text("#verdict").contains("was never added"));
    page.click("[value='standard Bloom filter']");
    assert_eq!(page.get("document.getElementById('remove').disabled"), true);
}

/// From the top of the page to a key that is added, by the keyboard alone.
fn the_keyboard_is_enough(page: &mut Page) {
    page.tab_to("[name=question]");
    page.press("ArrowRight", 39, "");
    assert_eq!(page.get("document.querySelector('[name=question]:checked').value"), "counts");
    page.press("ArrowLeft", 37, "");
    page.tab_to("#structures button");
    page.press("Enter", 13, "\r");
    let current = page.get("document.querySelector('#structures [aria-current]').dataset.type");
    let first = page.get("document.querySelector('#structures tbody tr').dataset.type");
    assert_eq!(current, first);
    page.tab_to("[name=kind]");
    page.press("ArrowRight", 39, "");
    page.tab_to("#key");
    page.call("Input.insertText", json!({ "text": "plum" }));
    page.press("Enter", 13, "\r");
    assert_eq!(page.get("document.getElementById('demo').dataset.exact"), "1");
    page.tab_to("#check");
    page.press("Enter", 13, "\r");
    assert!(page.text("#verdict").contains("probably present"), "{}", page.text("#verdict"));
    page.tab_to("#download");
}

fn pasted_lines_are_added(page: &mut Page) {
    page.fill("paste", "one\ntwo\r\n\nthree\none");
    page.click("#add-lines");
    assert_eq!(page.get("document.getElementById('demo').dataset.exact"), "3");
    assert!(page.text("#verdict").contains("4 lines, 3 new keys"), "{}", page.text("#verdict"));
}

/// The page goes on with a module that knows nothing, and says so.
fn a_module_that_fails_is_started_anew(page: &mut Page) {
    // A request that the module cannot even hold: its memory has at most 4 GiB.
    let failed = page.get(
        "import('./module.js').then(({ ask }) => { try { ask({ do: 'add', key: '' }, { length: 2 ** 32 - 64 }); } \
         catch (error) { return error.message; } })",
    );
    assert!(failed.as_str().is_some_and(|text| text.contains("started anew")), "{failed}");
    page.get("new Promise((resolve) => setTimeout(resolve, 200))");
    page.click("#clear");
    page.fill("key", "pear");
    page.click("#add");
    assert_eq!(page.get("document.getElementById('demo').dataset.exact"), "1");
}

/// The bits and the bytes of the page are those of a native filter of the same keys.
fn a_dropped_file_fills_the_filter(page: &mut Page) {
    let keys: Vec<String> = (0..3_000).map(|number| format!("line {number}")).collect();
    let native = {
        let mut filter = BloomFilter::new(3_000, 0.05).expect("a filter");
        filter.extend(&keys);
        filter
    };
    page.get(&format!(
        "(() => {{ const transfer = new DataTransfer(); \
         transfer.items.add(new File([{:?}], 'keys.txt')); \
         document.getElementById('drop').dispatchEvent(new DragEvent('drop', {{ dataTransfer: transfer, bubbles: true, \
         cancelable: true }})); }})()",
        keys.join("\n")
    ));
    page.until("document.getElementById('demo').dataset.exact === '3000'");
    let wrong = page.get("Number(document.getElementById('demo').dataset.wrong)").as_u64();
    let strangers = (1..=1_000).filter(|number| native.contains(&format!("stranger {number}")));
    assert_eq!(wrong, Some(strangers.count() as u64));
    let rate = page.get("document.getElementById('demo').dataset.rate");
    assert_eq!(rate.as_str().expect("a text").parse(), Ok(native.false_positive_rate()));

    page.click("#download");
    assert_eq!(page.browser.saved_file(), ("demo.pds".to_owned(), native.to_bytes()));
}

fn nothing_is_wider_than_the_window(page: &mut Page) {
    for kind in ["HyperLogLog", "count-min sketch", "blocked Bloom filter"] {
        page.click(&format!("[value='{kind}']"));
        // A telephone widens its window to what does not fit, so the window's own width says nothing.
        let wide = page.get("document.documentElement.scrollWidth").as_u64();
        assert_eq!(wide, Some(page.width.into()), "{kind}");
    }
    let unnamed = page.get(
        "[...document.querySelectorAll('input, select, textarea, button, canvas, svg')].filter((one) => \
         !(one.labels?.length || one.ariaLabel || one.textContent.trim() || one.getAttribute('aria-labelledby'))).length",
    );
    assert_eq!(unnamed, 0, "every control has a label");
}

/// Draws what the documents show, if a folder for it is given.
fn pictures(page: &mut Page) {
    if env::var("SCREENSHOTS").is_err() {
        return;
    }
    let height = if page.width < 500 { 1500 } else { 1350 };
    page.picture("page-calculator", height);
    let words = ["apple", "pear", "plum", "cherry", "quince", "fig", "grape", "lemon", "lime"];
    let guests = (0..70).map(|number| format!("guest {number}"));
    for key in words.map(str::to_owned).into_iter().chain(guests).chain(["olive".to_owned()]) {
        page.fill("key", &key);
        page.click("#add");
    }
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    page.call("Emulation.setEmulatedMedia", dark);
    page.get("document.activeElement.blur(), document.getElementById('demo').scrollIntoView({ behavior: 'instant' })");
    page.picture("page-demo", height);
}
