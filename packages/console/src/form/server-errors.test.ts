// Assigning the server's error messages to fields.
import { expect, test } from "vitest";
import { errorsByField } from "./server-errors.ts";

const schema = { type: "object", properties: { amount: { type: "number" }, customer: { type: "object" } } };
const about = (message: string) => errorsByField(new Error(message), schema);

test("a message is shown at the field that it names, in plain words where it is a known one, also inside an object", () => {
  expect(
    about(
      "Resume data validation failed: amount: Too big: expected number to be <=1240; customer.name: its own",
    ),
  ).toEqual({
    fields: {
      amount: { __errors: ["This must be at most 1240"] },
      customer: { name: { __errors: ["its own"] } },
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

test.each([
  ["Invalid input: expected object, received undefined", "This is required"],
  ["Invalid input: expected true", "This must be Yes"],
  ['Invalid option: expected one of "post"|"mail"', "Choose post or mail"],
  ["Invalid input: expected int, received number", "This must be a whole number"],
  ["Invalid input: expected number, received string", "This must be a number"],
  ["Too small: expected number to be >0", "This must be more than 0"],
  ["Too small: expected string to have >=3 characters", "At least 3 characters are needed"],
  ["Too big: expected array to have <=2 items", "At most 2 items are possible"],
  ["Invalid ISO date", "This must be a date"],
  ["The account is closed", "The account is closed"],
])("%s → %s", (message, words) => {
  expect(about(`Input validation failed: amount: ${message}`).fields).toEqual({
    amount: { __errors: [words] },
  });
});
