CREATE INDEX "sessions_revoked" ON "sessions" USING btree ("revoked_at") WHERE revoked_at is not null;--> statement-breakpoint
CREATE INDEX "ldap_staged_entries_staged" ON "ldap_staged_entries" USING btree ("staged_at");--> statement-breakpoint
CREATE INDEX "tender_changes_at" ON "tender_changes" USING btree ("at");