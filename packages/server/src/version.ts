// The version of this package, as the API description and the console show it.
export const version = "0.1.0";
