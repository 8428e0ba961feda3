#!/usr/bin/env node
// `npm create andante`: asks the open questions, writes the project, and prints the next steps.
import { choose, UsageError } from "./choose.ts";
import { checkFolder, writeProject } from "./write-project.ts";

/** The command that starts the database of a project; SQLite needs none. */
const databaseSteps = {
  sqlite: "",
  postgres: `
  docker compose up --detach --wait   # PostgreSQL, as compose.yaml says; or one that you have
  cp .env.example .env                # its address: without it everything is kept in a SQLite file`,
  restate: `
  docker compose up --detach --wait   # Restate, as compose.yaml says; or one that you have
  cp .env.example .env                # its address: without it everything is kept in a SQLite file`,
};

try {
  const choices = await choose(process.argv.slice(2), {
    input: process.stdin,
    output: process.stdout,
    checkFolder: (name) => checkFolder(name, process.cwd()),
  });
  if (typeof choices === "string") {
    process.stdout.write(choices);
  } else {
    const folder = writeProject(choices, process.cwd());
    process.stdout.write(`
Created ${choices.name} in ${folder}

  cd ${choices.name}
  npm install${databaseSteps[choices.database]}
  npm run dev

It runs with no key. README.md says what is what.
`);
  }
} catch (error) {
  // A mistake of the user is printed in one line; any other error is a bug, printed with its stack.
  if (error instanceof Error && error.name === "AbortError") {
    // Ctrl-C or Ctrl-D at a question.
    process.stderr.write("\n");
    process.exitCode = 130;
  } else if (error instanceof UsageError || (error instanceof Error && "syscall" in error)) {
    // Includes system errors: a folder that is not writable, a full disk.
    process.stderr.write(`create-andante: ${error.message}\n`);
    process.exitCode = 1;
  } else throw error;
}
