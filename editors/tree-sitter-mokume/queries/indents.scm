[(block) (arguments) (brackets)] @indent.begin
["}" ")" "]"] @indent.end @indent.branch
