import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RelayEnvironmentProvider } from "react-relay";
import { App } from "./App";
import { environment } from "./client";
import "./style.css";

// Reading shows the errors of what it contains.
createRoot(document.getElementById("root")!, { onCaughtError() {} }).render(
  <StrictMode>
    <RelayEnvironmentProvider environment={environment}>
      <App />
    </RelayEnvironmentProvider>
  </StrictMode>,
);
