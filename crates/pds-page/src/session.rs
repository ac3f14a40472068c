//! Requests of the page and their answers.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::calculator;
use crate::demo::Demo;
use crate::json::{Fields, Refusal};

/// State behind one open page: the structure of the demo.
///
/// # Examples
/// ```
/// let mut session = pds_page::Session::default();
/// let answer = session.ask(br#"{"do": "filters", "items": 1000000, "rate": 0.01}"#, b"");
/// assert!(answer.text.contains(r#""choice":"BloomFilter""#));
/// ```
#[derive(Debug, Default)]
pub struct Session {
    demo: Option<Demo>,
}

/// An answer: JSON, and bytes beside it.
#[derive(Debug, Default)]
pub struct Answer {
    /// A JSON object. Its only field is `error`, a sentence, if the request was refused.
    pub text: String,
    /// The cells of the demo's structure, four bytes each and little endian; or the structure in its portable bytes, if
    /// the request was `download`.
    pub bytes: Vec<u8>,
}

impl Session {
    /// Answers a request: a JSON object whose field `do` says what is asked, and the lines of a file for `add-lines`.
    pub fn ask(&mut self, request: &[u8], lines: &[u8]) -> Answer {
        let answer = serde_json::from_slice(request)
            .map_err(|error| Refusal(error.to_string()))
            .and_then(|request: Value| self.answer(&Fields(request), lines));
        answer.unwrap_or_else(|Refusal(error)| Answer {
            text: json!({ "error": error }).to_string(),
            bytes: Vec::new(),
        })
    }

    fn answer(&mut self, fields: &Fields, lines: &[u8]) -> Result<Answer, Refusal> {
        let text = match fields.text("do")? {
            "filters" => calculator::filters(fields)?,
            "budgets" => calculator::budgets(fields)?,
            "counts" => calculator::counts(fields)?,
            "distinct" => calculator::distinct(fields)?,
            "similar" => calculator::similar(fields)?,
            _ => return self.demonstrate(fields, lines),
        };
        Ok(Answer { text: text.to_string(), bytes: Vec::new() })
    }

    fn demonstrate(&mut self, fields: &Fields, lines: &[u8]) -> Result<Answer, Refusal> {
        let wanted = fields.text("do")?;
        if wanted == "open" {
            self.demo = Some(Demo::open(fields)?);
        }
        let demo = self.demo.as_mut().ok_or_else(|| Refusal("no structure is open".to_string()))?;
        let event = match wanted {
            "open" => Value::Null,
            "add" => demo.add(fields.text("key")?.as_bytes())?,
            "check" => demo.check(fields.text("key")?.as_bytes()),
            "remove" => demo.remove(fields.text("key")?.as_bytes())?,
            "add-lines" => demo.add_lines(lines)?,
            "download" => return Ok(Answer { text: "{}".to_string(), bytes: demo.to_bytes() }),
            other => return Err(Refusal(alloc::format!("there is no request `{other}`"))),
        };
        let cells = demo.cells();
        let text = json!({ "event": event, "state": demo.state() }).to_string();
        Ok(Answer { text, bytes: cells.iter().flat_map(|cell| cell.to_le_bytes()).collect() })
    }
}
