// The packages imported and not used, for the test of the loaded modules.
import "@andante/core";
import "@andante/server";
