(layer body: (block) @class.inside) @class.around
(declaration body: (block) @class.inside) @class.around
[(function body: (block) @function.inside) (handler body: (block) @function.inside)] @function.around
(test body: (block) @test.inside) @test.around
[(comment) (doc_comment)] @comment.around
