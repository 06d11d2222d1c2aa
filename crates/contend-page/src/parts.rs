//! The page: one text with its style, its scripts and what it shows first.

use contend_report::output::source;
use serde::Serialize;

const BODY: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");
const SCRIPT: &str = include_str!("../page/page.js");
/// The host of a page that `contend live` serves.
pub const SERVED: &str = include_str!("../page/served.js");

/// A page, and what the browser may load for it.
#[derive(Debug)]
pub struct Page {
    /// The page.
    pub text: String,
    /// Its content security policy, which is in the page too.
    pub policy: String,
}

/// What makes a page one of its kind.
#[derive(Debug)]
pub struct Parts<'a, Data> {
    /// The script that answers the questions of the page's own script.
    pub host: &'a str,
    /// What `host` has from the beginning, in the element `data`.
    pub data: &'a Data,
    /// Further elements for `host`.
    pub elements: &'a str,
    /// Sources of styles, of scripts, and further directives of the content security policy, beside the page's own.
    pub policy: [&'a str; 3],
}

impl<Data: Serialize> Parts<'_, Data> {
    /// The page of these parts.
    pub fn page(&self) -> Page {
        let Parts { host, data, elements, policy: [styles, scripts, more] } = self;
        let data = serde_json::to_string(data).unwrap_or_else(|e| serde_json::Value::from(e.to_string()).to_string());
        let policy = format!(
            "default-src 'none'; img-src data:; style-src {} {styles}; script-src {} {} {scripts}; base-uri 'none'; \
             form-action 'none'{more}",
            source(STYLE),
            source(host),
            source(SCRIPT)
        );
        let parts = [
            ("<!--POLICY-->", policy.as_str()),
            ("/*STYLE*/", STYLE),
            ("/*DATA*/", &inside(&data)),
            ("<!--ELEMENTS-->", elements),
            ("/*HOST*/", host),
            ("/*SCRIPT*/", SCRIPT),
        ];
        // What is put in is not looked at again.
        let (mut text, mut rest) = (String::new(), BODY);
        for (name, part) in parts {
            let Some((before, after)) = rest.split_once(name) else { continue };
            text += before;
            text += part;
            rest = after;
        }
        text += rest;
        Page { text, policy }
    }
}

/// A JSON text for a script element, inside which a tag would be one.
fn inside(json: &str) -> String {
    json.replace('<', "\\u003c")
}
