//! The parameters in a compiled program.

use contend_core::Refusal;
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSection as _};

/// The section of a program that holds its parameters.
pub const SECTION: &str = ".rodata.settings";

/// `program` with these parameters instead of the compiled defaults.
///
/// # Errors
/// If the program has no such section of this size.
pub fn written(program: &[u8], settings: &[u8]) -> Result<Vec<u8>, Refusal> {
    let broken = || Refusal::new("the object has no place for these settings", "rebuild it: ci.sh bpf");
    let file: ElfFile64<object::Endianness> = ElfFile64::parse(program).map_err(|_| broken())?;
    let range = file.section_by_name(SECTION).and_then(|s| s.file_range());
    let (from, length) = range.ok_or_else(broken)?;
    let mut out = program.to_vec();
    let place = usize::try_from(from).ok().and_then(|from| out.get_mut(from..)?.get_mut(..settings.len()));
    match place {
        Some(place) if length == settings.len() as u64 => place.copy_from_slice(settings),
        _ => return Err(broken()),
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BLOCKS;

    #[test]
    fn the_compiled_defaults_are_those_of_the_table_and_settings_replace_them() {
        for block in BLOCKS {
            let compiled: Vec<u8> = block.params.iter().flat_map(|p| p.1.to_ne_bytes()).collect();
            assert_eq!(written(block.object, &compiled).unwrap(), block.object, "{}", block.name);
            // A required parameter is compiled as 0, and settings without it are refused.
            let (name, value, _) = *block.params.iter().find(|p| block.required.is_none_or(|r| r == p.0)).unwrap();
            assert_eq!(block.settings(&[]).ok(), block.required.is_none().then_some(compiled), "{}", block.name);
            let other = block.settings(&[format!("{name}={}", value + 8)]).unwrap();
            let changed = written(block.object, &other).unwrap();
            assert_eq!(changed.len(), block.object.len());
            assert_eq!(changed.iter().zip(block.object).filter(|(a, b)| a != b).count(), 1, "{}", block.name);
        }
        assert!(written(b"no object", &[]).is_err());
        assert!(written(BLOCKS[0].object, &[0; 8]).is_err());
    }
}
