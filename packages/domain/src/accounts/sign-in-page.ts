/** The page of the web front end where accounts sign in. */
export const signInPage = (publicUrl: string): string => `${publicUrl}/login`;
