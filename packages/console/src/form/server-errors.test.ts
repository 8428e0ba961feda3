// Assigning the server's error messages to fields.
import { expect, test } from "vitest";
import { errorsByField } from "./server-errors.ts";

const schema = { type: "object", properties: { amount: { type: "number" }, customer: { type: "object" } } };
const about = (message: string) => errorsByField(new Error(message), schema);

test("a message is shown at the field that it names, also inside an object", () => {
  expect(
    about("Resume data validation failed: amount: expected at most 1240; customer.name: required"),
  ).toEqual({
    fields: {
      amount: { __errors: ["amount: expected at most 1240"] },
      customer: { name: { __errors: ["customer.name: required"] } },
    },
    rest: undefined,
  });
});

test("a message that names no field of the schema is shown below all of them", () => {
  expect(about("Input validation failed: other: required").rest).toBe("other: required");
  expect(about("Execution is not suspended")).toEqual({ fields: {}, rest: "Execution is not suspended" });
});

test("no error has no words", () => {
  expect(errorsByField(undefined, schema)).toEqual({ fields: {}, rest: undefined });
});
