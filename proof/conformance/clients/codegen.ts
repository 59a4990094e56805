// The configuration of graphql-codegen for the tests in this folder.
import type { CodegenConfig } from "@graphql-codegen/cli";

const config: CodegenConfig = {
  schema: process.env.SCHEMA_URL ?? "http://127.0.0.1:8080/graphql",
  documents: "*.graphql",
  config: {
    scalars: { ID: "string", DateTime: "string" },
    enumsAsTypes: true,
    useTypeImports: true,
    nonOptionalTypename: true,
  },
  generates: {
    "generated/gql/": { preset: "client", presetConfig: { fragmentMasking: false } },
    "generated/gql/enums.ts": { plugins: ["typescript"], config: { onlyEnums: true } },
  },
};
export default config;
