// Preloaded with --import: writes the name of every package that the process imports to its standard error.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    if (/^[@a-z]/.test(specifier) && !/^(node|file|data):/.test(specifier))
      process.stderr.write(`import ${specifier}\n`);
    return next(specifier, context);
  },
});
