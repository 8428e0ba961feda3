// The documentation site: `npm run docs` builds it into docs/.vitepress/dist, `npm run docs -- dev` serves it while one
// writes, `npm run docs -- preview` serves the build, `npm run docs -- update` brings code from files into the pages.
import { globSync } from "node:fs";
import path from "node:path";
import { build, createServer, serve } from "vitepress";
import { updatePage } from "./included-code.ts";
import { writeReference } from "./reference.ts";

const root = path.resolve(import.meta.dirname, "../..");
const docs = path.join(root, "docs");
const [task = "build", place] = process.argv.slice(2);

if (task === "update") {
  for (const page of globSync("docs/**/*.md", { cwd: root })) updatePage(page);
} else if (task === "preview") {
  await serve({ root: docs });
} else {
  writeReference(path.join(docs, "reference"));
  if (task === "dev") {
    const server = await createServer(docs);
    await server.listen();
    server.printUrls();
  } else if (task === "build") {
    await build(docs, place === undefined ? {} : { outDir: path.resolve(place) });
  } else {
    console.error(`Unknown task "${task}": build, dev, preview or update`);
    process.exitCode = 2;
  }
}
