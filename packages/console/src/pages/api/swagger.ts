// Swagger UI, which the server has beside the console: loaded when the page is opened, and filled in from outside of it.
import { address, headers, serverRoot } from "../../api/andante.ts";
import { currentToken } from "../../api/token.ts";

interface SwaggerRequest {
  headers: Record<string, string>;
}

/** The used part of its interface, of the release that the server has. */
interface SwaggerSystem {
  readonly layoutActions: { show(what: readonly string[], shown: boolean): void };
}

type SwaggerBundle = (options: {
  url: string;
  domNode: HTMLElement;
  tryItOutEnabled: boolean;
  defaultModelsExpandDepth: number;
  requestInterceptor(request: SwaggerRequest): SwaggerRequest;
  onComplete(): void;
}) => SwaggerSystem;

declare global {
  interface Window {
    SwaggerUIBundle?: SwaggerBundle;
  }
}

function load(): Promise<SwaggerBundle> {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = `${serverRoot}ui/swagger-ui.css`;
  document.head.append(style);
  return new Promise((resolve, reject) => {
    if (window.SwaggerUIBundle) return resolve(window.SwaggerUIBundle);
    const script = document.createElement("script");
    script.src = `${serverRoot}ui/swagger-ui-bundle.js`;
    script.onload = () =>
      window.SwaggerUIBundle
        ? resolve(window.SwaggerUIBundle)
        : reject(new Error("the page's script is empty"));
    script.onerror = () => reject(new Error("the page's script cannot be loaded"));
    document.head.append(script);
  });
}

/** Draws every endpoint into the element. Resolves when they are there; the caller's token goes with each call. */
export async function drawSwagger(domNode: HTMLElement): Promise<SwaggerSystem> {
  const bundle = await load();
  return new Promise((resolve) => {
    const system = bundle({
      url: address("/doc"),
      domNode,
      tryItOutEnabled: true,
      // Not drawn beside the operations, which show theirs: half of the work of the page.
      defaultModelsExpandDepth: -1,
      requestInterceptor: (request) => {
        const own = currentToken() === null ? {} : headers();
        request.headers = { ...own, ...request.headers };
        return request;
      },
      onComplete: () => resolve(system),
    });
  });
}

const tag = "Workflows";
const operationId = "executeWorkflow";

/**
 * Opens the call that executes a workflow, with its id and a body that it accepts; returns where it stands. Both are examples
 * in the description, under the workflow's id, and are chosen in their lists as a person would: Swagger UI keeps the text that is
 * in its fields in several places, and only its own controls renew all of them.
 */
export async function fillIn(system: SwaggerSystem, workflowId: string): Promise<Element | undefined> {
  system.layoutActions.show(["operations-tag", tag], true);
  system.layoutActions.show(["operations", tag, operationId], true);
  const place = await drawn();
  const lists = place?.querySelectorAll<HTMLSelectElement>("select.examples-select-element") ?? [];
  for (const list of lists) {
    if (![...list.options].some(({ value }) => value === workflowId)) continue;
    list.value = workflowId;
    list.dispatchEvent(new Event("change", { bubbles: true }));
  }
  return place;
}

/** The call once it has a field for its body; undefined when it does not come within a few seconds. */
async function drawn(): Promise<Element | undefined> {
  for (let frames = 0; frames < 300; frames += 1) {
    const place = document.getElementById(`operations-${tag}-${operationId}`);
    if (place?.querySelector("textarea")) return place;
    await new Promise(requestAnimationFrame);
  }
  return undefined;
}
