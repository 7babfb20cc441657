/** Builds what `python -m tests.benchmarks.timeline_drawing` measures: the page's own modules, apart from the page. */
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  plugins: [react()],
  publicDir: false,
  resolve: { alias: { "@": at("./src") } },
  build: {
    rollupOptions: {
      input: at("./src/features/jobs/timeline/drawing-benchmark.tsx"),
      output: { entryFileNames: "drawing.js", assetFileNames: "drawing[extname]" },
    },
  },
});
