//! Reports for a browser: one file without external references, readable on a telephone.

/// Returns a page with the parts of a report. `title` is text, `body` is HTML.
///
/// The style sheet defines paragraphs of class `verdict` with `kept` or `broken`, and table rows of class `weak` or
/// `broken`. Divisions of class `wide` scroll sideways.
#[must_use]
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{style}</style>\n<main>\n\
         <h1>{title}</h1>\n{body}</main>\n</html>\n",
        title = escape(title),
        style = include_str!("page/style.css"),
    )
}

/// Escapes text for HTML.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
        assert!(page("<script>", "").contains("<h1>&lt;script&gt;</h1>"));
    }
}
