import openapiTypes, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import ts from 'typescript';

/** The source of the module `interface` for an OpenAPI document. */
export async function typesOf(document: URL): Promise<string> {
  const types = await openapiTypes(document, {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    // A file in a form. The generator knows only its JSON schema, which is that of a string.
    transform: ({ format }, { path = '' }) =>
      format === 'binary' && path.includes('/requestBody/content/multipart~1form-data')
        ? ts.factory.createTypeReferenceNode('Blob')
        : undefined,
  });
  return COMMENT_HEADER + astToString(types);
}
