//! The page: one text with its style, its script and what the page shows first.

use crate::session::{Session, told};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("../page/live.css");
const SCRIPT: &str = include_str!("../page/live.js");
const BODY: &str = include_str!("../page/live.html");

/// The page, and what the browser may load for it.
pub(crate) struct Page {
    pub(crate) text: String,
    /// The content security policy.
    pub(crate) policy: String,
}

impl Page {
    pub(crate) fn of(session: &Session) -> Page {
        let first = session.first().map_err(|why| told(&why));
        let data = first.and_then(|first| serde_json::to_string(&first).map_err(|e| e.to_string()));
        // Inside a script element a tag would be one.
        let data = data.unwrap_or_else(|wrong| serde_json::Value::from(wrong).to_string()).replace('<', "\\u003c");
        let text = BODY.replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", SCRIPT).replace("/*DATA*/", &data);
        let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
        let policy = format!(
            "default-src 'none'; connect-src 'self'; frame-src 'self'; img-src data:; style-src {}; script-src {}; \
                base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            hash(STYLE),
            hash(SCRIPT)
        );
        Page { text, policy }
    }
}
