import type { CodegenConfig } from "@graphql-codegen/cli";
import { addTypenameSelectionDocumentTransform } from "@graphql-codegen/client-preset";

const config: CodegenConfig = {
  schema: "src/generated/schema.graphql",
  documents: "src/*.graphql",
  config: {
    scalars: { ID: "string", DateTime: "string" },
    enumsAsTypes: true,
    useTypeImports: true,
    nonOptionalTypename: true,
    nullability: { errorHandlingClient: true },
  },
  generates: {
    "src/generated/gql/": {
      preset: "client",
      presetConfig: { fragmentMasking: false, persistedDocuments: { hashAlgorithm: "sha256" } },
      documentTransforms: [addTypenameSelectionDocumentTransform],
    },
    "src/generated/gql/enums.ts": { plugins: ["typescript"], config: { onlyEnums: true } },
  },
};
export default config;
