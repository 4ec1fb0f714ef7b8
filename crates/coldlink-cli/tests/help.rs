//! What the program says about itself.

mod common;

use common::Folder;

#[test]
fn the_version_is_there_at_once() {
    let folder = Folder::new();
    assert_eq!(folder.check("--version"), format!("coldlink {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = Folder::new();
    for command in [
        "convert",
        "inspect",
        "split",
        "train",
        "evaluate",
        "predict",
        "embed",
        "add",
        "serve",
        "completions",
        "demo",
        "licenses",
    ] {
        let help = folder.check(&format!("{command} -h"));
        assert!(help.contains(&format!("  coldlink {command}")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}

#[test]
fn all_settings_are_in_the_long_help_of_train() {
    let help = Folder::new().check("train --help");
    for setting in ["width = ", "validate_every = ", "lambda = "] {
        assert!(help.contains(setting), "{help}");
    }
}

#[test]
fn shells_complete_commands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(folder.check(&format!("completions {shell}")).contains("evaluate"), "{shell}");
    }
}

#[test]
fn the_licences_of_what_it_is_made_from_are_in_the_binary() {
    let printed = Folder::new().check("licenses");
    for expected in ["| `ring` |", "| `serde` |", "Apache License", "Permission is hereby granted, free of charge"] {
        assert!(printed.contains(expected), "{expected} is missing");
    }
    assert!(!printed.contains("| `burn` |"), "what is only measured with is not in the binary");
}

#[test]
fn the_first_screen() {
    insta::assert_snapshot!(Folder::new().check("-h"));
}
