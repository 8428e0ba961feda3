// Copies of rows that the engine has written, to fill a store with many of them in SQL.
import { DatabaseSync } from "node:sqlite";
import pg from "pg";

/** The rows of one table that are copied. */
export interface Copying {
  readonly table: string;
  /** The rows, as a condition on their columns. */
  readonly where: string;
  readonly count: number;
  /** Texts that are another one in each copy: `{n}` is its number. */
  readonly texts: Readonly<Record<string, string>>;
  /** Columns with an expression of their own, in which `each` is the number. Default: none. */
  readonly columns?: Readonly<Record<string, string>>;
}

/** A database that takes SQL statements. */
export interface Filled {
  readonly dialect: "sqlite" | "postgres";
  run(sql: string): Promise<void>;
  columns(table: string): Promise<readonly { readonly name: string; readonly isText: boolean }[]>;
  close(): Promise<void>;
}

export function sqliteFile(file: string): Filled {
  const database = new DatabaseSync(file);
  database.exec("pragma synchronous = off");
  return {
    dialect: "sqlite",
    run: async (sql) => database.exec(sql),
    columns: async (table) =>
      database
        .prepare(`select name, type from pragma_table_info('${table}')`)
        .all()
        .map(({ name, type }) => ({ name: String(name), isText: String(type).toLowerCase() === "text" })),
    close: async () => database.close(),
  };
}

export async function postgresSchema(url: string, schema: string): Promise<Filled> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`set search_path to ${schema}; set synchronous_commit = off`);
  return {
    dialect: "postgres",
    run: async (sql) => void (await client.query(sql)),
    columns: async (table) => {
      const { rows } = await client.query<{ column_name: string; data_type: string }>(
        `select column_name, data_type from information_schema.columns where table_schema = $1 and table_name = $2
           and is_generated = 'NEVER' and is_identity = 'NO'`,
        [schema, table],
      );
      return rows.map(({ column_name: name, data_type: type }) => ({ name, isText: type === "text" }));
    },
    close: async () => client.end(),
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

export async function copyRows(
  filled: Filled,
  { table, where, count, texts, columns = {} }: Copying,
): Promise<void> {
  const all = await filled.columns(table);
  const values = all.map(({ name, isText }) => {
    const own = columns[name];
    if (own !== undefined) return own;
    if (!isText) return `one.${name}`;
    return Object.entries(texts).reduce(
      (value, [text, copy]) =>
        `replace(${value}, ${quoted(text)}, ${copy.split("{n}").map(quoted).join(" || each || ")})`,
      `one.${name}`,
    );
  });
  const names = all.map(({ name }) => name).join(", ");
  const numbers =
    filled.dialect === "sqlite"
      ? `(with recursive counted (each) as (select 1 union all select each + 1 from counted where each < ${count}) select each from counted)`
      : `generate_series(1, ${count})`;
  await filled.run(
    `insert into ${table} (${names}) select ${values.join(", ")}
     from (select * from ${table} where ${where}) as one, ${numbers} as numbers${filled.dialect === "sqlite" ? "" : " (each)"}`,
  );
}
