//! The DevTools protocol over two pipes.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use std::{env, fs, process, thread};

const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser.
pub(crate) struct Chromium {
    process: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    last: u64,
    pub(crate) events: VecDeque<Value>,
    profile: PathBuf,
}

impl Chromium {
    /// Starts the browser, whose pipes are its descriptors 3 and 4.
    pub(crate) fn start() -> Self {
        let profile = env::temp_dir().join(format!("pds-page-{}", process::id()));
        let program = env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
        let script = format!(
            "exec {program} --headless --no-sandbox --disable-gpu --no-first-run --hide-scrollbars --remote-debugging-pipe \
             --user-data-dir={} about:blank 3<&0 4>&1 1>/dev/null 2>/dev/null",
            profile.display()
        );
        let mut process = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let requests = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in answers.split(0) {
                let Ok(message) = message else { break };
                let value = serde_json::from_slice(&message).expect("JSON");
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let mut browser =
            Self { process, requests, messages, last: 0, events: VecDeque::new(), profile };
        let saving = json!({
            "behavior": "allow", "downloadPath": browser.downloads(), "eventsEnabled": true
        });
        browser.call("", "Browser.setDownloadBehavior", saving);
        browser
    }

    fn downloads(&self) -> PathBuf {
        self.profile.join("downloads")
    }

    /// Waits for a file that a page saves, and returns its name and its bytes.
    pub(crate) fn saved_file(&mut self) -> (String, Vec<u8>) {
        let name = self.wait_for("Browser.downloadWillBegin")["params"]["suggestedFilename"].take();
        while self.wait_for("Browser.downloadProgress")["params"]["state"] != "completed" {}
        let name = name.as_str().expect("a name").to_owned();
        let path = self.downloads().join(&name);
        let bytes = fs::read(&path).expect("the saved file");
        fs::remove_file(path).expect("its folder");
        (name, bytes)
    }

    /// Calls a method, and keeps the events that arrive before its answer.
    pub(crate) fn call(&mut self, session: &str, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut request = json!({ "id": self.last, "method": method, "params": parameters });
        if !session.is_empty() {
            request["sessionId"] = json!(session);
        }
        write!(self.requests, "{request}\0")
            .and_then(|()| self.requests.flush())
            .expect("a running browser");
        loop {
            let mut message = self.next();
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.events.push_back(message);
        }
    }

    /// Waits for an event.
    pub(crate) fn wait_for(&mut self, method: &str) -> Value {
        loop {
            if let Some(index) = self.events.iter().position(|event| event["method"] == method) {
                return self.events.remove(index).expect("its index");
            }
            let message = self.next();
            self.events.push_back(message);
        }
    }

    fn next(&self) -> Value {
        self.messages
            .recv_timeout(PATIENCE)
            .expect("an answer of Chromium (is the package `chromium` installed?)")
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Without its pipe the browser ends by itself; the kill is for one that hangs.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}
