use std::collections::HashMap;

use super::*;

/// A database in memory, which does one thing wrong if it is told to.
#[derive(Default)]
struct Memory {
    tables: HashMap<&'static str, Vec<Row>>,
    open: Vec<Row>,
    wrong: Option<Wrong>,
}

#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    LosesRow,
    AddsRow,
    ChangesValue,
    ChangesKey,
    DoesNotFill,
}

impl Memory {
    /// With as many rows in each table as give several pieces of the first one.
    fn full() -> Self {
        let mut this = Self::default();
        for (place, table) in TABLES.iter().enumerate() {
            let count = if place == 0 { 2 * PIECE_ROWS + 1 } else { 3 };
            let text = |row: usize, column: &str| Value::Text(format!("{row:06} {column}"));
            let row = |row| table.columns.iter().map(|column| text(row, column)).collect();
            this.tables.insert(table.name, (0..count).map(row).collect());
        }
        this
    }
}

#[async_trait]
impl RowReader for Memory {
    async fn count(&mut self, table: &'static Table) -> anyhow::Result<u64> {
        Ok(self.tables.get(table.name).map_or(0, Vec::len) as u64)
    }

    async fn start(&mut self, table: &'static Table) -> anyhow::Result<()> {
        self.open = self.tables.get(table.name).cloned().unwrap_or_default();
        self.open.reverse();
        Ok(())
    }

    async fn next(&mut self) -> anyhow::Result<Piece> {
        let mut piece = Piece::default();
        while let Some(row) = self.open.pop() {
            if !piece.push(row) {
                break;
            }
        }
        Ok(piece)
    }
}

#[async_trait]
impl RowWriter for Memory {
    async fn insert(&mut self, table: &'static Table, piece: &Piece) -> anyhow::Result<()> {
        let rows = self.tables.entry(table.name).or_default();
        for row in &piece.rows {
            let mut row = row.clone();
            if let Some(later) = table.later_index() {
                row[later] = Value::Null;
            }
            rows.push(row);
        }
        let last = rows.last().cloned().expect("a row");
        if table.name != "invite" {
            return Ok(());
        }
        match self.wrong {
            Some(Wrong::LosesRow) => drop(rows.pop()),
            Some(Wrong::AddsRow) => rows.push(last),
            Some(Wrong::ChangesValue) => rows[1][1] = Value::Bytes(vec![7]),
            Some(Wrong::ChangesKey) => rows[1][0] = Value::Integer(7),
            Some(Wrong::DoesNotFill) | None => {}
        }
        Ok(())
    }

    async fn fill(&mut self, table: &'static Table, piece: &Piece) -> anyhow::Result<()> {
        if self.wrong == Some(Wrong::DoesNotFill) {
            return Ok(());
        }
        let later = table.later_index().expect("a column");
        let rows = self.tables.get_mut(table.name).expect("the table");
        for filled in &piece.rows {
            let row = rows.iter_mut().find(|row| row[0] == filled[0]);
            row.expect("the row")[later] = filled[later].clone();
        }
        Ok(())
    }

    async fn commit(self: Box<Self>) -> anyhow::Result<()> {
        Ok(())
    }
}

async fn copy_with(wrong: Option<Wrong>) -> anyhow::Result<(Memory, Counts, Vec<Step>)> {
    let (mut from, mut to, mut steps) = (Memory::full(), Memory::default(), Vec::new());
    to.wrong = wrong;
    let counts = copy(&mut from, &mut to, &mut |step| steps.push(step)).await?;
    assert_eq!(from.tables, to.tables);
    Ok((to, counts, steps))
}

#[tokio::test]
async fn every_table_is_copied_in_pieces() {
    let (_, counts, steps) = copy_with(None).await.expect("a copy");
    let all = (2 * PIECE_ROWS + 1 + 3 * (TABLES.len() - 1)) as u64;
    assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), all);
    assert!(matches!(steps[0], Step::Copying(rows, _) if rows == PIECE_ROWS as u64));
    assert!(matches!(steps.last(), Some(Step::Comparing(rows, of)) if *rows == all && *of == all));
}

#[tokio::test]
async fn a_copy_that_differs_is_refused_and_says_where() {
    for (wrong, what) in [
        (Wrong::LosesRow, "the copy has 2 rows of invite and not 3"),
        (Wrong::AddsRow, "the copy has 4 rows of invite and not 3"),
        (
            Wrong::ChangesValue,
            "invite \"000001 id\" differs in the copy: token_hash",
        ),
        (
            Wrong::ChangesKey,
            "the copy has invite 7 where invite \"000001 id\" is",
        ),
        (
            Wrong::DoesNotFill,
            "board \"000000 id\" differs in the copy: creator_id",
        ),
    ] {
        let refused = copy_with(Some(wrong)).await.err().expect("a refusal");
        assert_eq!(refused.to_string(), what);
    }
}

#[test]
fn a_piece_ends_when_it_has_many_rows_or_much_text() {
    let mut small = Piece::default();
    let rows = (1..).take_while(|_| small.push(vec![Value::Null])).count();
    assert_eq!(rows + 1, PIECE_ROWS);
    let mut large = Piece::default();
    let image = || vec![Value::Text("a".repeat(PIECE_BYTES / 4))];
    let rows = (1..).take_while(|_| large.push(image())).count();
    assert_eq!(rows + 1, 4);
}
