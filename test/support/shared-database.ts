// The database that all files of a run share, where the run is meant to be on PostgreSQL.

const variable = "ANDANTE_TEST_DATABASE_URL";

export function sharedDatabase(): string | undefined {
  return process.env[variable];
}

/** For this process and those that it starts from now on. */
export function shareDatabase(url: string): void {
  process.env[variable] = url;
}
