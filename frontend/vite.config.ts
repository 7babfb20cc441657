import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const hub = process.env["REGROUP_HUB"] ?? "http://127.0.0.1:8000";

/** Puts a compressed copy beside each built file: the hub sends that to whoever takes it. */
const compressed: Plugin = {
  name: "compressed",
  apply: "build",
  writeBundle({ dir = "" }, bundle) {
    for (const name of Object.keys(bundle).filter((each) => /\.(js|css)$/.test(each))) {
      const path = join(dir, name);
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
    }
  },
};

export default defineConfig({
  plugins: [react(), compressed],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "dist",
    // The page's content policy allows files of its own only, no data: addresses for scripts or fonts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
  },
  // Not the short form: it would change the Host header, which the hub holds against the origin of who logs in.
  server: { proxy: { "/api": { target: hub }, "/ws": { target: hub, ws: true } } },
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"] },
});
