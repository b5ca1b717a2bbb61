//! The modules of a crate, the names in them, and where the code of each looks for others.
//!
//! A file is read as a stream of tokens: enough to find modules, `use` paths and qualified paths, those in macro calls included. Tests
//! (`#[cfg(test)]`) are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A chain of re-exports that is longer is a circle of its own.
const MAX_REEXPORTS: u32 = 20;

/// A module of a crate, in a file of its own or inside one.
#[derive(Default)]
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    /// The path behind each name that a `use` brings in.
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Every path in the code, those of private imports included.
    paths: BTreeSet<Vec<String>>,
}

/// All modules of a crate; the first is its root.
pub struct Names {
    modules: Vec<Module>,
}

/// For each file, the files with what it uses, and the names that it uses.
pub type Uses = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

impl Names {
    /// Reads a crate from the file of its root on.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut names = Self { modules: Vec::new() };
        let directory = root.parent().unwrap_or(Path::new(""));
        names.read_file(root, directory, None)?;
        Ok(names)
    }

    fn read_file(&mut self, file: &Path, directory: &Path, parent: Option<usize>) -> io::Result<usize> {
        let text = fs::read_to_string(file)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
        let tokens = text
            .parse()
            .map_err(|error| io::Error::other(format!("{} is no Rust: {error}", file.display())))?;
        self.read_module(tokens, file, directory, parent)
    }

    /// `directory` is where the files of its child modules are.
    fn read_module(
        &mut self,
        tokens: TokenStream,
        file: &Path,
        directory: &Path,
        parent: Option<usize>,
    ) -> io::Result<usize> {
        let id = self.modules.len();
        self.modules.push(Module { file: file.to_owned(), parent, ..Module::default() });
        let tokens = without_tests(tokens);
        let mut at = 0;
        while at < tokens.len() {
            let keyword = ident(tokens.get(at)).unwrap_or_default();
            let name = ident(tokens.get(at + 1));
            match (keyword.as_str(), name) {
                ("mod", Some(name)) => {
                    let inner = directory.join(&name);
                    let child = match tokens.get(at + 2) {
                        Some(TokenTree::Group(body)) => {
                            self.read_module(body.stream(), file, &inner, Some(id))?
                        }
                        _ => {
                            let beside = inner.with_extension("rs");
                            let child = if beside.exists() { beside } else { inner.join("mod.rs") };
                            self.read_file(&child, &inner, Some(id))?
                        }
                    };
                    self.modules[id].children.insert(name, child);
                    at += 3;
                    continue;
                }
                ("use", Some(_)) => {
                    let end = (at..tokens.len()).find(|&end| punct(tokens.get(end)) == Some(';'));
                    let end = end.unwrap_or(tokens.len());
                    self.modules[id].import(&tokens[at + 1..end]);
                    at = end;
                    continue;
                }
                ("struct" | "enum" | "union" | "trait" | "type" | "const" | "static" | "fn", Some(name)) => {
                    self.modules[id].items.insert(name);
                }
                ("macro_rules", None) => self.modules[id].items.extend(ident(tokens.get(at + 2))),
                _ => {}
            }
            at += 1;
        }
        // The bodies of child modules have been read on their own.
        let own = without_child_modules(tokens);
        paths_of(&own, &mut self.modules[id]);
        Ok(id)
    }

    /// The file where what a path names is defined: `None` if that is a module, or in another crate.
    fn defined_in(&self, module: usize, path: &[String], depth: u32) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        let here = &self.modules[module];
        match first.as_str() {
            "crate" => self.found_in(0, rest, depth),
            "self" => self.found_in(module, rest, depth),
            "super" => {
                let parent = here.parent?;
                if rest.first().is_some_and(|next| next == "super") {
                    self.defined_in(parent, rest, depth)
                } else {
                    self.found_in(parent, rest, depth)
                }
            }
            _ => self.found_in(module, path, depth),
        }
    }

    /// Looks for the rest of a path in a module.
    fn found_in(&self, module: usize, path: &[String], depth: u32) -> Option<usize> {
        if depth > MAX_REEXPORTS {
            return None;
        }
        let (name, rest) = path.split_first()?;
        let here = &self.modules[module];
        if let Some(&child) = here.children.get(name).filter(|_| !rest.is_empty()) {
            return self.found_in(child, rest, depth);
        }
        if here.items.contains(name) {
            return Some(module);
        }
        if let Some(import) = here.imports.get(name) {
            let whole = [import, rest].concat();
            // A crate of the same name as the import: `use log::log`.
            return if whole == path { None } else { self.defined_in(module, &whole, depth + 1) };
        }
        here.globs.iter().find_map(|glob| {
            let whole = [glob, path].concat();
            self.defined_in(module, &whole, depth + 1)
        })
    }

    /// Adds what the files of the crate use of each other.
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        for (id, module) in self.modules.iter().enumerate() {
            uses.entry(module.file.clone()).or_default();
            for path in &module.paths {
                let Some(target) = self.defined_in(id, path, 0) else { continue };
                let target = &self.modules[target].file;
                if *target != module.file {
                    let used = uses.entry(module.file.clone()).or_default().entry(target.clone());
                    used.or_default().extend(path.last().cloned());
                }
            }
        }
        uses
    }
}

impl Module {
    /// Notes the names of a `use`, which is given without the keyword and the semicolon.
    fn import(&mut self, tokens: &[TokenTree]) {
        import_tree(tokens, &[], &mut |mut path, alias| match path.last().map(String::as_str) {
            Some("*") => {
                path.pop();
                self.globs.push(path);
            }
            Some("self") => {
                path.pop();
                self.imports.extend(alias.or(path.last().cloned()).map(|name| (name, path)));
            }
            _ => self.imports.extend(alias.or(path.last().cloned()).map(|name| (name, path))),
        });
    }
}

/// Calls `found` with each path of a `use` tree, and with its alias.
fn import_tree(tokens: &[TokenTree], prefix: &[String], found: &mut impl FnMut(Vec<String>, Option<String>)) {
    for branch in tokens.split(|token| punct(Some(token)) == Some(',')) {
        let mut path = prefix.to_vec();
        let mut alias = None;
        let mut tokens = branch.iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => alias = ident(tokens.next()),
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Punct(star) if star.as_char() == '*' => path.push("*".to_owned()),
                TokenTree::Group(group) => {
                    let inner: Vec<_> = group.stream().into_iter().collect();
                    import_tree(&inner, &path, found);
                    path.clear();
                }
                _ => {}
            }
        }
        if !path.is_empty() {
            found(path, alias);
        }
    }
}

/// Adds the paths in the code. A public import alone uses nothing.
fn paths_of(tokens: &[TokenTree], module: &mut Module) {
    let mut at = 0;
    let mut public = false;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(word) if word == "pub" => {
                public = true;
                at += 1;
                // `pub(crate)`
                if let Some(TokenTree::Group(_)) = tokens.get(at) {
                    at += 1;
                }
                continue;
            }
            TokenTree::Ident(word) if word == "use" => {
                let end = (at..tokens.len()).find(|&end| punct(tokens.get(end)) == Some(';'));
                if let Some(end) = end.filter(|_| ident(tokens.get(at + 1)).is_some()) {
                    if !public {
                        import_tree(&tokens[at + 1..end], &[], &mut |path, alias| {
                            module.paths.insert(path.clone());
                            // One of a function counts for the whole module.
                            if let Some(name) = alias.or(path.last().cloned()) {
                                module.imports.entry(name).or_insert(path);
                            }
                        });
                    }
                    at = end;
                }
            }
            TokenTree::Ident(word)
                if at.checked_sub(1).is_none_or(|at| punct(tokens.get(at)) != Some('.')) =>
            {
                let mut path = vec![word.to_string()];
                while punct(tokens.get(at + 1)) == Some(':')
                    && punct(tokens.get(at + 2)) == Some(':')
                    && let Some(next) = ident(tokens.get(at + 3))
                {
                    path.push(next);
                    at += 3;
                }
                module.paths.insert(path);
            }
            TokenTree::Group(group) => {
                let inner: Vec<_> = group.stream().into_iter().collect();
                paths_of(&without_tests(inner.into_iter().collect()), module);
            }
            _ => {}
        }
        public = false;
        at += 1;
    }
}

/// The tokens without the items that only tests have.
fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if punct(tokens.get(at)) == Some('#')
            && let Some(TokenTree::Group(attribute)) = tokens.get(at + 1)
            && attribute.delimiter() == Delimiter::Bracket
            && is_for_tests(&attribute.stream().to_string())
        {
            at += 2;
            while at < tokens.len() && !ends_item(&tokens[at]) {
                at += 1;
            }
        } else {
            kept.push(tokens[at].clone());
        }
        at += 1;
    }
    kept
}

/// Whether an attribute leaves out what it stands at unless tests are built.
fn is_for_tests(attribute: &str) -> bool {
    let attribute: String = attribute.chars().filter(|c| !c.is_whitespace()).collect();
    attribute == "test"
        || ["cfg(test)", "cfg(all(test,", "cfg(any(test,"].iter().any(|start| attribute.starts_with(start))
}

fn ends_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(body) => body.delimiter() == Delimiter::Brace,
        token => punct(Some(token)) == Some(';'),
    }
}

/// The tokens without the bodies of modules inside them.
fn without_child_modules(tokens: Vec<TokenTree>) -> Vec<TokenTree> {
    let mut kept: Vec<TokenTree> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let module =
            kept.len().checked_sub(2).is_some_and(|at| ident(kept.get(at)).is_some_and(|it| it == "mod"));
        if !(module && matches!(token, TokenTree::Group(_))) {
            kept.push(token);
        }
    }
    kept
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token? {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    }
}

fn punct(token: Option<&TokenTree>) -> Option<char> {
    match token? {
        TokenTree::Punct(punct) => Some(punct.as_char()),
        _ => None,
    }
}
