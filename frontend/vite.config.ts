import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const hub = process.env["REGROUP_HUB"] ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "dist",
    // The page's content policy allows files of its own only, no data: addresses for scripts or fonts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
  },
  // Not the short form: it would change the Host header, which the hub holds against the origin of who logs in.
  server: { proxy: { "/api": { target: hub }, "/ws": { target: hub, ws: true } } },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"] },
});
