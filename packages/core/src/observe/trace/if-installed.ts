// Packages that a host may install beside `@andante/core`.

/** Loads an optional package; undefined where it is not installed. Throws where a dependency of the package is missing. */
export async function ifInstalled<Module>(
  name: string,
  load: () => Promise<Module>,
): Promise<Module | undefined> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")
      if (error.message.includes(`'${name}'`)) return undefined;
    throw error;
  }
}
