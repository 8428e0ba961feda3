// Swagger UI, served by the server: loaded when the page is opened, and filled in by the console.
import { address, headers, serverRoot } from "../../api/andante.ts";
import { currentToken } from "../../api/token.ts";

interface SwaggerRequest {
  headers: Record<string, string>;
}

/** The part of Swagger UI's API that is used, in the server's version. */
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

/** Renders every endpoint into the element. Resolves when they are rendered. Sends the user's token with each call. */
export async function drawSwagger(domNode: HTMLElement): Promise<SwaggerSystem> {
  const bundle = await load();
  return new Promise((resolve) => {
    const system = bundle({
      url: address("/doc"),
      domNode,
      tryItOutEnabled: true,
      // No separate list of schemas, since the operations show them: it was half of the page's rendering time.
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
 * Opens the operation that executes a workflow, with its id and a valid body; returns its element. Both are examples of
 * the description, under the workflow's id, and are selected through Swagger UI's own controls: it stores field values
 * in several places, and only its controls update all of them.
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

/** The operation's element once it has a body field; undefined after a few seconds without one. */
async function drawn(): Promise<Element | undefined> {
  for (let frames = 0; frames < 300; frames += 1) {
    const place = document.getElementById(`operations-${tag}-${operationId}`);
    if (place?.querySelector("textarea")) return place;
    await new Promise(requestAnimationFrame);
  }
  return undefined;
}
