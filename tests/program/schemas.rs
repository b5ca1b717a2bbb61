//! JSON documents against the schemas in docs.

use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;

use crate::support::json_file;

/// A schema in docs.
pub struct Schema {
    pub text: Value,
    validator: Validator,
}

impl Schema {
    /// The one in this file.
    pub fn of(name: &str) -> Self {
        let text = json_file(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name));
        let validator = jsonschema::draft202012::new(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        Schema { text, validator }
    }

    /// The objections of the schema to a document.
    pub fn mistakes(&self, document: &Value) -> Vec<String> {
        let errors = self.validator.iter_errors(document);
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
    }
}
