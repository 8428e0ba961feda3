import { defineConfig } from "tsdown";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    chat: "src/chat/chat-transport.ts",
    react: "src/react/index.ts",
    webhooks: "src/webhooks/verify-webhook.ts",
  },
  format: "esm",
  // For browsers, workers and every server runtime alike: only interfaces of the web platform.
  platform: "neutral",
  target: "es2022",
  dts: true,
  fixedExtension: false,
});
