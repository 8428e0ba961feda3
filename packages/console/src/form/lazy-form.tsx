// The form, loaded on first use.
import { lazy, Suspense } from "react";
import type { SchemaFormProps } from "./schema-form.tsx";

const Form = lazy(() => import("./schema-form.tsx"));

export function LazyForm(props: SchemaFormProps) {
  return (
    <Suspense fallback={<span className="skeleton" style={{ height: 96 }} />}>
      <Form {...props} />
    </Suspense>
  );
}
