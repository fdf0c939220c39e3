ALTER TABLE "job_outcomes" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE POLICY "tenant" ON "job_outcomes" AS PERMISSIVE FOR SELECT TO "portal_app" USING (true);--> statement-breakpoint
CREATE POLICY "across" ON "job_outcomes" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);