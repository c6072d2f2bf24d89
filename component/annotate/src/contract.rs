//! What the files in `wit/` say.

use std::{fs, io, path::Path};

/// The contract as text.
pub struct Contract {
    /// Of the package.
    pub version: String,
    /// The first paragraph about the package.
    pub description: String,
    /// What is said of the package and of its world.
    pub docs: String,
    /// All files as one, with their comments.
    pub text: String,
}

impl Contract {
    /// Reads a folder. The packages that it uses, in `deps`, are left out.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "wit") {
                files.push(path);
            }
        }
        files.sort();
        let texts: io::Result<Vec<_>> = files.into_iter().map(fs::read_to_string).collect();
        let texts = texts?;
        Self::new(&texts).ok_or_else(|| io::Error::other("wit/ has no package with a version and a comment"))
    }

    fn new(files: &[String]) -> Option<Self> {
        // One of the files has the comment about the package above its name.
        let described = files.iter().find_map(|file| {
            let (comment, rest) = file.split_once("package ")?;
            (!comment.is_empty()).then_some((comment, rest))
        });
        let (comment, rest) = described?;
        let (package, rest) = rest.split_once(';')?;
        let world = rest.split_once("\n@since").map_or("", |(comment, _)| comment);
        let about = lines(comment);
        let (description, _) = about.split_once("\n\n").unwrap_or((&about, ""));
        let (_, version) = package.split_once('@')?;
        let heading = format!("package {package};");
        let parts = files
            .iter()
            .filter_map(|file| Some(file.split_once(&heading)?.1.trim()));
        let parts: Vec<_> = parts.collect();
        Some(Self {
            version: version.into(),
            description: description.replace('\n', " "),
            docs: format!("{about}\n\n{}", lines(world)),
            text: format!("{comment}{heading}\n\n{}\n", parts.join("\n\n")),
        })
    }
}

/// The lines of a comment.
fn lines(comment: &str) -> String {
    let lines = comment.lines().filter_map(|line| line.trim().strip_prefix("///"));
    lines.map(str::trim).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_become_one_text() {
        let files = [
            "package a:b@1.2.3;\n\n/// More.\n@since(version = 1.0.0)\ninterface more {\n}\n",
            "/// Of a\n/// and b.\n///\n/// More.\npackage a:b@1.2.3;\n\n/// All.\n@since(version = 1.0.0)\nworld w {\n}\n",
        ];
        let contract = Contract::new(&files.map(String::from)).unwrap();
        assert_eq!(contract.version, "1.2.3");
        assert_eq!(contract.description, "Of a and b.");
        assert_eq!(contract.docs, "Of a\nand b.\n\nMore.\n\nAll.");
        let rest = "\n\n/// More.\n@since(version = 1.0.0)\ninterface more {\n}\n\n/// All.\n@since(version = 1.0.0)\nworld w {\n}\n";
        let text = format!("/// Of a\n/// and b.\n///\n/// More.\npackage a:b@1.2.3;{rest}");
        assert_eq!(contract.text, text);
        assert!(Contract::new(&["package a:b;".into()]).is_none());
    }
}
