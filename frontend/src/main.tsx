import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
// First, so that the component library's styles come before the page's own.
import { Providers } from "./app/providers";
import { App } from "./app/app";

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <Providers>
      <App />
    </Providers>
  </StrictMode>,
);
