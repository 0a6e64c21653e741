//! Reads the parts of a wire that are not in every packet: `optional`, `options`, `list`, `reach`.

use super::cursor::{fault, Cursor, Read};
use super::token::Line;
use super::wire::{endian, Reader};
use crate::*;

/// The kind of an option, the field that says whether it is present, and its repeated elements.
type OptionCase = (u64, (HeaderId, VariantId, u32), Option<OptionRepeat>);

impl Reader<'_, '_> {
    /// `optional flag == 1, kind != 0 {`
    pub(super) fn optional(&mut self, line: &Line, next: &mut u32) -> Read<WireItem> {
        let when = self.optional_head(line);
        let items = self.items(next);
        self.at += 1;
        Ok(WireItem::Optional { when: when?, items })
    }

    fn optional_head(&mut self, line: &Line) -> Read<Vec<WireTest>> {
        let mut cursor = Cursor::new(line);
        cursor.word("optional");
        let mut when = vec![self.test(&mut cursor)?];
        while cursor.mark(",") {
            when.push(self.test(&mut cursor)?);
        }
        cursor.expect("{")?;
        cursor.end()?;
        Ok(when)
    }

    /// `list w.Hdr.records {`, `list w.Hdr.records to end else w.records {`; in it, `element {` and items
    pub(super) fn list(&mut self, line: &Line, next: &mut u32) -> Read<WireItem> {
        let head = self.list_head(line);
        let mut elements = Vec::new();
        self.until_brace(|reader, line| {
            if !line.starts_with("element") {
                return Cursor::new(line).wanted("`element`");
            }
            elements.push(reader.items(next));
            reader.at += 1;
            Ok(())
        });
        Ok(WireItem::List(WireList { elements, ..head? }))
    }

    /// Reads the lines up to the closing `}`; reports a faulty line and goes on with the next.
    fn until_brace(&mut self, mut read: impl FnMut(&mut Self, &Line) -> Read<()>) {
        while let Some(line) = self.lines.get(self.at) {
            self.at += 1;
            if line.ends_with("}") && line.tokens.len() == 1 {
                break;
            }
            read(self, line).unwrap_or_else(|fault| self.parser.report(fault));
        }
    }

    fn list_head(&mut self, line: &Line) -> Read<WireList> {
        let mut cursor = Cursor::new(line);
        cursor.word("list");
        let (header, variant, count) = self.place_in_header(&mut cursor)?;
        let mut to_end = None;
        if cursor.word("to") {
            cursor.expect_word("end")?;
            cursor.expect_word("else")?;
            to_end = Some(self.parser.reason_at(&mut cursor)?);
        }
        cursor.expect("{")?;
        cursor.end()?;
        Ok(WireList { header, variant, count, to_end, elements: Vec::new() })
    }

    /// `reach words * 4`
    pub(super) fn reach(&mut self, line: &Line) -> Read<WireItem> {
        let mut cursor = Cursor::new(line);
        cursor.word("reach");
        let to = self.sum(&mut cursor, 0)?;
        cursor.end()?;
        Ok(WireItem::Reach(to))
    }

    /// `options kind: 8 length: 8 * 1 + 0 big until words * 4 pad 4 malformed w.length unknown w.kind {`
    pub(super) fn options(&mut self, line: &Line, next: &mut u32) -> Read<WireItem> {
        let head = self.options_head(line);
        let mut arms = Vec::new();
        self.until_brace(|reader, line| {
            arms.push(reader.option_arm(line, next)?);
            Ok(())
        });
        let mut options = head?;
        options.arms = arms;
        Ok(WireItem::Options(options))
    }

    fn option_part(&mut self, cursor: &mut Cursor) -> Read<OptionPart> {
        let name = cursor.name()?;
        cursor.expect(":")?;
        let span = cursor.span();
        let width = cursor.small()?;
        let width = u8::try_from(width).map_err(|_| fault(codes::NUMBER, "a field has 1 to 64 bits", span))?;
        Ok(OptionPart { name, width })
    }

    fn options_head(&mut self, line: &Line) -> Read<WireOptions> {
        let mut cursor = Cursor::new(line);
        cursor.word("options");
        let kind = self.option_part(&mut cursor)?;
        let length = self.option_part(&mut cursor)?;
        cursor.expect("*")?;
        let times = cursor.number()?;
        cursor.expect("+")?;
        let plus = cursor.number()?;
        let endian = endian(&mut cursor).unwrap_or(Endian::Big);
        cursor.expect_word("until")?;
        let until = self.sum(&mut cursor, 0)?;
        cursor.expect_word("pad")?;
        let pad = cursor.small()?;
        let pads_with = if cursor.word("with") { Some(cursor.number()?) } else { None };
        let ends_with = if cursor.word("end") { Some(cursor.number()?) } else { None };
        cursor.expect_word("malformed")?;
        let malformed = self.parser.reason_at(&mut cursor)?;
        let unknown = if cursor.word("unknown") { Some(self.parser.reason_at(&mut cursor)?) } else { None };
        cursor.expect("{")?;
        cursor.end()?;
        Ok(WireOptions {
            kind,
            length,
            times,
            plus,
            endian,
            until,
            pad,
            pads_with,
            ends_with,
            arms: Vec::new(),
            unknown,
            malformed,
        })
    }

    /// `end 0`, `single 1`, `case 2 if tcp.Hdr.has_mss {`, `case 5 if tcp.Hdr.sack repeat tcp.Hdr.sack from 0 each 2 {`
    fn option_arm(&mut self, line: &Line, next: &mut u32) -> Read<OptionArm> {
        let mut cursor = Cursor::new(line);
        if cursor.word("end") || cursor.word("single") {
            let kind = cursor.number()?;
            cursor.end()?;
            let is_end = line.starts_with("end");
            return Ok(if is_end { OptionArm::End { kind } } else { OptionArm::Single { kind } });
        }
        if !cursor.word("case") {
            return cursor.wanted("`end`, `single` or `case`");
        }
        let head = self.option_case(&mut cursor);
        let items = self.items(next);
        self.at += 1;
        let (kind, (header, variant, field), repeat) = head?;
        Ok(OptionArm::Known { kind, header, variant, field, items, repeat })
    }

    fn option_case(&mut self, cursor: &mut Cursor) -> Read<OptionCase> {
        let kind = cursor.number()?;
        cursor.expect_word("if")?;
        let place = self.place_in_header(cursor)?;
        let repeat = if cursor.word("repeat") { Some(self.option_repeat(cursor)?) } else { None };
        cursor.expect("{")?;
        cursor.end()?;
        Ok((kind, place, repeat))
    }

    fn option_repeat(&mut self, cursor: &mut Cursor) -> Read<OptionRepeat> {
        let (_, _, count) = self.place_in_header(cursor)?;
        cursor.expect_word("from")?;
        let from = cursor.small()?;
        cursor.expect_word("each")?;
        let each = cursor.small()?;
        Ok(OptionRepeat { count, from, each })
    }
}
