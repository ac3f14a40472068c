//! Reports for a browser: one file without references to others, readable on a telephone.

/// Joins the parts of a report into a page. `title` is text, `body` is HTML.
///
/// The style sheet knows paragraphs of class `verdict` that are `kept` or `broken`, divisions of class `wide` that scroll
/// sideways, and rows of tables that are `weak` or `broken`.
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

/// Makes text harmless inside HTML.
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
