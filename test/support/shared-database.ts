// The database that all files of a run share, where the run is meant to be on PostgreSQL or on Restate.

const variable = "ANDANTE_TEST_DATABASE_URL";

export function sharedDatabase(): string | undefined {
  return process.env[variable];
}

/** For this process and those that it starts from now on. */
export function shareDatabase(url: string): void {
  process.env[variable] = url;
}

/** The addresses of a Restate server, and of the endpoint that it calls. */
export interface SharedRestate {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly endpointUrl: string;
}

const restateVariable = "ANDANTE_TEST_RESTATE";

export function sharedRestate(): SharedRestate | undefined {
  const text = process.env[restateVariable];
  return text === undefined ? undefined : JSON.parse(text);
}

export function shareRestate(server: SharedRestate): void {
  process.env[restateVariable] = JSON.stringify(server);
}
