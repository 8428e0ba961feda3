// The form, loaded on first use.
import { Suspense } from "react";
import { lazyPart } from "../components/late-code.tsx";
import type { SchemaFormProps } from "./schema-form.tsx";

const Form = lazyPart(() => import("./schema-form.tsx"));

export function LazyForm(props: SchemaFormProps) {
  return (
    <Suspense fallback={<span className="skeleton" style={{ height: 96 }} />}>
      <Form {...props} />
    </Suspense>
  );
}
