CREATE INDEX "audit_entries_action" ON "audit_entries" USING btree ("action","id");
