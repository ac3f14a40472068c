//! Documentation of a function for its users.

use datafusion::logical_expr::{DocSection, Documentation};

/// Name, call, and description of a function.
#[derive(Debug)]
pub(crate) struct Help {
    pub(crate) name: &'static str,
    pub(crate) syntax: &'static str,
    pub(crate) description: &'static str,
}

/// Returns a [`Help`], given the name, the arguments and the description.
macro_rules! help {
    ($name:literal, $args:literal, $description:literal) => {
        &Help { name: $name, syntax: concat!($name, "(", $args, ")"), description: $description }
    };
}
pub(crate) use help;

const SECTION: DocSection = DocSection { include: true, label: "Sketches", description: None };

pub(crate) fn documentation(help: &Help) -> Documentation {
    Documentation::builder(SECTION, help.description, help.syntax).build()
}
