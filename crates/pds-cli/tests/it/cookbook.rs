//! The commands of `docs/cookbook.md` print what it says.

use crate::tool::Folder;
use std::env;
use std::path::Path;
use std::process::Command;

const COOKBOOK: &str = include_str!("../../../../docs/cookbook.md");

/// The commands of one block, each with the lines that it prints.
fn commands(block: &str) -> Vec<(&str, String)> {
    let mut commands: Vec<(&str, String)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, String::new())),
            (None, Some((_, output))) => output.extend([line, "\n"]),
            (None, None) => panic!("`{line}` is no command"),
        }
    }
    commands
}

#[test]
#[cfg(unix)]
fn every_command_prints_what_the_cookbook_says() {
    let folder = Folder::new();
    let tool = Path::new(env!("CARGO_BIN_EXE_pds")).parent().unwrap();
    let path = env::join_paths(
        [tool.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    let blocks =
        COOKBOOK.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut number = 0;
    for (command, printed) in blocks.flat_map(commands) {
        // A file that no command has written gets the contents that the reader is shown.
        if let Some(name) = command.strip_prefix("cat ").filter(|name| !folder.path(name).exists())
        {
            folder.write(name, &printed);
            continue;
        }
        let run = Command::new("sh")
            .arg("-c")
            .arg(command)
            .current_dir(folder.path(""))
            .env("PATH", &path)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&run.stdout), printed, "{command}");
        assert_eq!(String::from_utf8_lossy(&run.stderr), "", "{command}");
        number += 1;
    }
    assert!(number > 15, "the sections are there");
}
